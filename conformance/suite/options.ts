/**
 * The options of a run, a row each: the type, the command line, the settings that a result records
 * and what a replay takes from them are derived from here.
 */
import * as v from 'valibot';
import { defaultHeaderPrefix } from '../../fixtures/contract/vendor-names.ts';
import { type OptionRow, offSwitch, type ValuesOf } from '../../fixtures/option-row.ts';

const JOBS_MAX = 32;
const REPEAT_MAX = 100;
const REQUESTS_PER_SECOND_MAX = 10_000;
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

interface SuiteOptionRow extends OptionRow {
  /** The value as a result records it, and its placeholder for a run without one. */
  readonly recorded?: { readonly as: v.GenericSchema; readonly absent?: unknown };
  /** A replay takes it from the earlier run. */
  readonly isReplayed?: true;
}

const recordedSwitch = { ...offSwitch, recorded: { as: v.boolean(), absent: false } } as const;

/** The options of a run, by their names in it. */
export const suiteOptions = {
  /** The vendor's, such as `X-SVC`. */
  headerPrefix: {
    flag: '--header-prefix <prefix>',
    group: 'Target',
    help: "vendor prefix of the API's header names",
    cli: { kind: 'header-prefix' },
    default: { value: defaultHeaderPrefix },
  },
  probe: {
    flag: '--no-probe',
    group: 'What the target can do',
    help: 'do not probe what the target offers',
    cli: { kind: 'switch' },
    default: { value: true, isQuiet: true },
  },
  disruptive: {
    flag: '--disruptive',
    group: 'Which cases',
    help: 'also run cases that may affect other users',
    isReplayed: true,
    ...recordedSwitch,
  },
  readOnly: {
    flag: '--read-only',
    group: 'Which cases',
    help: 'run only cases that change nothing',
    conflicts: ['disruptive'],
    isReplayed: true,
    ...recordedSwitch,
  },
  /** Decides every choice of the cases. */
  seed: {
    flag: '--seed <text>',
    group: 'Random choices',
    help: 'seed of all random choices, to repeat a run',
    cli: { kind: 'text' },
  },
  /** A run at a distance waits for the network; so many devices at a time trouble no server. */
  jobs: {
    flag: '--jobs <count>',
    group: 'Load',
    help: 'cases to run in parallel',
    cli: { kind: 'count', min: 1, max: JOBS_MAX },
    default: { value: 4 },
    recorded: { as: count, absent: 1 },
  },
  requestsPerSecondMax: {
    flag: '--rate <number/s>',
    group: 'Load',
    help: 'maximum requests per second of the run',
    cli: { kind: 'per-second', most: REQUESTS_PER_SECOND_MAX },
    recorded: { as: v.nullable(v.number()), absent: null },
  },
  repeat: {
    flag: '--repeat <count>',
    group: 'Load',
    help: 'runs of each case, to find unstable ones',
    cli: { kind: 'count', min: 1, max: REPEAT_MAX },
    default: { value: 1 },
    recorded: { as: count, absent: 1 },
  },
  caseTimeLimitMs: {
    flag: '--case-time-limit <duration>',
    group: 'Load',
    help: 'time limit of a case',
    cli: { kind: 'positive-duration' },
    default: { value: 60_000, shown: '60s' },
    recorded: { as: count },
    isReplayed: true,
  },
  requestTimeLimitMs: {
    flag: '--request-time-limit <duration>',
    group: 'Load',
    help: 'time limit of a request',
    cli: { kind: 'positive-duration' },
    default: { value: 15_000, shown: '15s' },
    recorded: { as: count },
    isReplayed: true,
  },
  requireAllMust: {
    flag: '--require-all-must',
    group: 'Requirements',
    help: 'fail if a MUST of the contract was not tested',
    ...recordedSwitch,
  },
  failOn: {
    flag: '--fail-on <level>',
    group: 'Requirements',
    help: 'lowest level that fails the run when missed',
    cli: { kind: 'choices', of: ['should', 'must'] },
    default: { value: 'should' },
    recorded: { as: v.optional(v.picklist(['should', 'must']), 'should'), absent: 'should' },
  },
  allEvidence: {
    flag: '--all-evidence',
    group: 'Reports',
    help: 'include the exchanges of passed cases in reports',
    ...offSwitch,
  },
} as const satisfies Readonly<Record<string, SuiteOptionRow>>;

/** The values of the rows. */
export type SuiteOptions = ValuesOf<typeof suiteOptions>;

type Needed = 'headerPrefix' | 'caseTimeLimitMs' | 'requestTimeLimitMs';

/** The values that a caller gives; the others are off, once, one at a time or without a bound. */
export type GivenOptions = Pick<SuiteOptions, Needed> & Partial<Omit<SuiteOptions, Needed>>;

type Rows = typeof suiteOptions;

/** The schemas of what a result records of a run's options, by name. */
type RecordedEntries = {
  readonly [Name in keyof Rows as Rows[Name] extends { readonly recorded: object }
    ? Name
    : never]: Rows[Name] extends { readonly recorded: { readonly as: infer Schema } }
    ? Schema extends v.GenericSchema
      ? Schema
      : never
    : never;
};

/** What a result records of a run's options. */
export type RecordedOptions = {
  readonly [Name in keyof RecordedEntries]: v.InferOutput<RecordedEntries[Name]>;
};

/** The schemas of what a result records of a run's options, by name. */
export function recordedEntries(): RecordedEntries {
  const entries = recordedRows().map(([name, { recorded }]) => [name, recorded?.as]);
  return Object.fromEntries(entries);
}

/** What a result records of these options. */
export function recordedOptions(options: Partial<SuiteOptions>): RecordedOptions {
  const given = new Map<string, unknown>(Object.entries(options));
  const entries = recordedRows().map(([name, { recorded }]) => [
    name,
    given.get(name) ?? recorded?.absent,
  ]);
  return Object.fromEntries(entries);
}

function recordedRows(): readonly (readonly [string, SuiteOptionRow])[] {
  const rows: readonly (readonly [string, SuiteOptionRow])[] = Object.entries(suiteOptions);
  return rows.filter(([, { recorded }]) => recorded !== undefined);
}

/** What a replay takes from the options that an earlier run recorded, by their flags. */
export function replayedOptions(
  recorded: RecordedOptions,
): readonly (readonly [string, unknown])[] {
  const values = new Map<string, unknown>(Object.entries(recorded));
  const rows: readonly (readonly [string, SuiteOptionRow])[] = Object.entries(suiteOptions);
  return rows
    .filter(([, { isReplayed }]) => isReplayed)
    .map(([name, { flag }]) => [flag, values.get(name)]);
}
