/** What the page of a fleet shows, as plain values: words, tables, courses over time, devices. */

/** How a word is to be taken. */
export type ShownTone = 'good' | 'busy' | 'bad' | 'info' | 'plain';

/** A cell: a text, or a word with its tone. */
export type ShownCell = string | { readonly word: string; readonly tone: ShownTone };

/** A table; a row has a cell for each column. */
export interface ShownTable {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ShownCell[])[];
  /** True for a detail that is closed at first. */
  readonly isClosed?: boolean;
}

/** A part of the page with its heading. */
export interface ShownSection {
  readonly id: string;
  readonly title: string;
  /** True where most readers need nothing of it: closed at first. */
  readonly isDetail?: boolean;
  readonly lines?: readonly ShownCell[];
  readonly pairs?: readonly (readonly [name: string, value: string])[];
  readonly tables?: readonly ShownTable[];
  /** Each a line, and below it the evidence. */
  readonly evidence?: readonly { readonly line: string; readonly text: string }[];
}

/** A line of a chart. */
export interface ShownLine {
  readonly name: string;
  readonly tone: ShownTone;
  /** Drawn with gaps, so that lines of one tone differ. */
  readonly isDashed?: boolean;
  /** One for each time; null leaves a gap. */
  readonly values: readonly (number | null)[];
  /** Keeps its height until the next value, as for a count. */
  readonly hasSteps?: boolean;
}

/** A chart over the time of the run. */
export interface ShownChart {
  readonly title: string;
  /** Behind each value, such as ` ms`. */
  readonly unit: string;
  /** Seconds since the start of the load, ascending. */
  readonly seconds: readonly number[];
  readonly lines: readonly ShownLine[];
}

/** A stretch of the run, or an incident at its moment. */
export interface ShownMark {
  readonly name: string;
  readonly kind: 'phase' | 'incident';
  /** Seconds since the start of the load. */
  readonly from: number;
  readonly to: number;
}

/** The course of the run over time: charts, and marks on their time axis. */
export interface ShownCourse {
  /** ISO 8601, UTC: second 0. */
  readonly startsAt: string;
  readonly endSeconds: number;
  readonly hint: string;
  readonly charts: readonly ShownChart[];
  readonly marks: readonly ShownMark[];
}

/** One device; texts that many share are numbers in `words`. */
export type ShownDevice = readonly [
  index: number,
  serial: string,
  deviceId: string,
  outcome: number,
  cohort: number,
  behaviour: number,
  keyType: number,
  reported: number,
  artifactName: number,
  /** From the offer to the outcome. */
  seconds: number | null,
];

/** The devices, those that failed first. */
export interface ShownDevices {
  readonly words: readonly string[];
  readonly rows: readonly ShownDevice[];
  /** How many are left out. */
  readonly missing: number;
}

/** Everything that the page shows. */
export interface FleetFacts {
  readonly title: string;
  readonly about: string;
  readonly verdict: {
    readonly tone: ShownTone;
    readonly title: string;
    /** What decided it, the worst first. */
    readonly because: readonly { readonly tone: ShownTone; readonly text: string }[];
  };
  readonly progress: {
    readonly devices: number;
    readonly rows: readonly (readonly [name: string, count: number, tone: ShownTone])[];
    /** When the fleet was updated. */
    readonly times: readonly (readonly [name: string, value: string])[];
  };
  readonly course: ShownCourse;
  readonly devices: ShownDevices;
  readonly sections: readonly ShownSection[];
}
