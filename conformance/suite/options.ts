/**
 * The options of a run, one row each. The rows determine the type `SuiteOptions`, the options of
 * the command line, the settings in a result, and the settings that a replay repeats.
 */
import * as v from 'valibot';
import { type OptionRow, switchOption, type ValuesOf } from '../../fixtures/base/option-row.ts';
import { defaultHeaderPrefix } from '../../fixtures/contract/vendor-names.ts';

const JOBS_MAX = 32;
const REPEAT_MAX = 100;
const REQUESTS_PER_SECOND_MAX = 10_000;
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

interface SuiteOptionRow extends OptionRow {
  /** The schema of the value in a result, and the value recorded when the option is not given. */
  readonly recorded?: { readonly as: v.GenericSchema; readonly absent?: unknown };
  /** Set if a replay repeats the value of the earlier run. */
  readonly isReplayed?: true;
}

const recordedSwitch = { ...switchOption, recorded: { as: v.boolean(), absent: false } } as const;

/** The options of a run, by property name in `SuiteOptions`. */
export const suiteOptions = {
  /** Prefix of the vendor's header names, such as `X-SVC`. */
  headerPrefix: {
    flag: '--header-prefix <prefix>',
    group: 'Target',
    help: "vendor prefix of the API's header names",
    cli: { kind: 'header-prefix' },
    default: { value: defaultHeaderPrefix },
  },
  waitForTargetMs: {
    flag: '--wait-for-target <duration>',
    group: 'Target',
    help: 'wait this long for a target that is starting',
    cli: { kind: 'positive-duration' },
  },
  probe: {
    flag: '--no-probe',
    group: 'What the target can do',
    help: 'do not probe what the target offers',
    cli: { kind: 'switch' },
    default: { value: true, isOmittedFromHelp: true },
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
  skipUnauthorized: {
    flag: '--skip-unauthorized',
    group: 'Which cases',
    help: 'skip the cases for which the user lacks a right, instead of ending the run',
    isReplayed: true,
    ...switchOption,
    recorded: { as: v.optional(v.boolean(), false), absent: false },
  },
  /** Determines every random choice of the cases. */
  seed: {
    flag: '--seed <text>',
    group: 'Random choices',
    help: 'seed of all random choices, to repeat a run',
    cli: { kind: 'text' },
  },
  /** The default of 4 hides network latency, yet is too small a load to disturb a server. */
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
    cli: { kind: 'per-second', max: REQUESTS_PER_SECOND_MAX },
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
    help: 'fail the run on a violated MUST only, or on a violated SHOULD too',
    cli: { kind: 'choices', of: ['should', 'must'] },
    default: { value: 'should' },
    recorded: { as: v.optional(v.picklist(['should', 'must']), 'should'), absent: 'should' },
  },
  allEvidence: {
    flag: '--all-evidence',
    group: 'Reports',
    help: 'include the exchanges of passed cases in reports',
    ...switchOption,
  },
} as const satisfies Readonly<Record<string, SuiteOptionRow>>;

/** The options of a run, by name. */
export type SuiteOptions = ValuesOf<typeof suiteOptions>;

type RequiredOption = 'headerPrefix' | 'caseTimeLimitMs' | 'requestTimeLimitMs';

/**
 * The options that a caller passes. An omitted switch is off, `repeat` and `jobs` are then 1, and
 * the rate is unlimited.
 */
export type SuppliedOptions = Pick<SuiteOptions, RequiredOption> &
  Partial<Omit<SuiteOptions, RequiredOption>>;

type SuiteRows = typeof suiteOptions;

/** The schema of each option that a result records, by name. */
type RecordedEntries = {
  readonly [Name in keyof SuiteRows as SuiteRows[Name] extends { readonly recorded: object }
    ? Name
    : never]: SuiteRows[Name] extends { readonly recorded: { readonly as: infer Schema } }
    ? Schema extends v.GenericSchema
      ? Schema
      : never
    : never;
};

/** The options of a run as a result records them. */
export type RecordedOptions = {
  readonly [Name in keyof RecordedEntries]: v.InferOutput<RecordedEntries[Name]>;
};

/** Returns the schema of each option that a result records, by name. */
export function recordedEntries(): RecordedEntries {
  const entries = recordedRows().map(([name, { recorded }]) => [name, recorded?.as]);
  return Object.fromEntries(entries);
}

/** Returns the record of these options; omitted ones get the placeholder of their row. */
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

/** Returns the flag and the value of each option that a replay repeats from an earlier run. */
export function replayedOptions(
  recorded: RecordedOptions,
): readonly (readonly [string, unknown])[] {
  const values = new Map<string, unknown>(Object.entries(recorded));
  const rows: readonly (readonly [string, SuiteOptionRow])[] = Object.entries(suiteOptions);
  return rows
    .filter(([, { isReplayed }]) => isReplayed)
    .map(([name, { flag }]) => [flag, values.get(name)]);
}
