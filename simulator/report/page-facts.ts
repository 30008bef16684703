/** The content of a fleet's report page as plain values: words, tables, charts, devices. */

/** The meaning of a colour. */
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
  /** True for a section that most readers do not need: closed at first. */
  readonly isDetail?: boolean;
  readonly lines?: readonly ShownCell[];
  readonly pairs?: readonly (readonly [name: string, value: string])[];
  readonly tables?: readonly ShownTable[];
  /** Lines with the evidence below each. */
  readonly evidence?: readonly { readonly line: string; readonly text: string }[];
}

/** A line of a chart. */
export interface ShownLine {
  readonly name: string;
  readonly tone: ShownTone;
  /** Drawn with gaps, so that lines of one tone differ. */
  readonly isDashed?: boolean;
  /** One value for each time; null leaves a gap. */
  readonly values: readonly (number | null)[];
  /** True when a value holds until the next one, as for a count. */
  readonly hasSteps?: boolean;
}

/** A chart over the time of the run. */
export interface ShownChart {
  readonly title: string;
  /** The unit after each value, such as ` ms`. */
  readonly unit: string;
  /** Seconds since the start of the load, ascending. */
  readonly seconds: readonly number[];
  readonly lines: readonly ShownLine[];
}

/** A phase of the run, or an incident at its time. */
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
  /** Number of devices left out. */
  readonly missing: number;
}

/** Everything that the page shows. */
export interface FleetFacts {
  readonly title: string;
  readonly about: string;
  readonly verdict: {
    readonly tone: ShownTone;
    readonly title: string;
    /** Reasons for the verdict, the worst first. */
    readonly because: readonly { readonly tone: ShownTone; readonly text: string }[];
  };
  readonly progress: {
    readonly devices: number;
    readonly rows: readonly (readonly [name: string, count: number, tone: ShownTone])[];
    /** Times until shares of the fleet were updated. */
    readonly times: readonly (readonly [name: string, value: string])[];
  };
  readonly course: ShownCourse;
  readonly devices: ShownDevices;
  readonly sections: readonly ShownSection[];
}
