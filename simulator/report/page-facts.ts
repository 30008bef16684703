/** Types of the data that the report page displays: texts, tables, charts and devices. */

/** The meaning of a colour on the page. */
export type ShownTone = 'positive' | 'pending' | 'negative' | 'info' | 'plain';

/** A cell of a table: text, or a word with a colour. */
export type ShownCell = string | { readonly word: string; readonly tone: ShownTone };

/** A table. Each row has one cell for each column. */
export interface ShownTable {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ShownCell[])[];
  /** True when the table is collapsed at first. */
  readonly isClosed?: boolean;
}

/** A part of the page with its heading. */
export interface ShownSection {
  readonly id: string;
  readonly title: string;
  /** True when the section is collapsed at first, because most readers do not need it. */
  readonly isDetail?: boolean;
  readonly lines?: readonly ShownCell[];
  readonly pairs?: readonly (readonly [name: string, value: string])[];
  readonly tables?: readonly ShownTable[];
  /** Lines that can be expanded to show their evidence. */
  readonly evidence?: readonly { readonly line: string; readonly text: string }[];
}

/** A line of a chart. */
export interface ShownLine {
  readonly name: string;
  readonly tone: ShownTone;
  /** True when the line is dashed, to distinguish lines of the same colour. */
  readonly isDashed?: boolean;
  /** One value for each time of the chart; null leaves a gap. */
  readonly values: readonly (number | null)[];
  /** True when a value stays constant until the next one, as counts do. */
  readonly hasSteps?: boolean;
}

/** A chart over the time of the run. */
export interface ShownChart {
  readonly title: string;
  /** Label of the vertical axis with its unit, such as `latency in ms`. */
  readonly axis: string;
  /** Text that follows each value, such as ` ms`. */
  readonly unit: string;
  /** Seconds since the start of the load, ascending. */
  readonly seconds: readonly number[];
  readonly lines: readonly ShownLine[];
}

/** A stage or an incident on the time axis. */
export interface ShownMark {
  readonly name: string;
  readonly kind: 'stage' | 'incident';
  /** Start and end in seconds since the start of the load. */
  readonly from: number;
  readonly to: number;
}

/** The charts of the run, and the marks on their common time axis. */
export interface ShownCourse {
  /** Time of second 0, in ISO 8601 and UTC. */
  readonly startsAt: string;
  readonly endSeconds: number;
  readonly hint: string;
  readonly charts: readonly ShownChart[];
  readonly marks: readonly ShownMark[];
}

/** A device. The members from `outcome` to `artifactName` are indices into `texts`. */
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
  /** Seconds from the offer to the outcome; null when unknown. */
  seconds: number | null,
];

/** The listed devices, those that failed first. */
export interface ShownDevices {
  readonly texts: readonly string[];
  readonly rows: readonly ShownDevice[];
  /** Number of devices that are not listed. */
  readonly missing: number;
}

/** All data that the page displays. */
export interface FleetFacts {
  readonly title: string;
  readonly about: string;
  readonly verdict: {
    readonly tone: ShownTone;
    readonly title: string;
    /** Reasons for the verdict, the worst first. */
    readonly reason: readonly { readonly tone: ShownTone; readonly text: string }[];
  };
  readonly progress: {
    readonly devices: number;
    readonly rows: readonly (readonly [name: string, count: number, tone: ShownTone])[];
    /** Texts with the times until certain shares of the fleet were updated. */
    readonly times: readonly (readonly [name: string, value: string])[];
  };
  readonly course: ShownCourse;
  readonly devices: ShownDevices;
  readonly sections: readonly ShownSection[];
}
