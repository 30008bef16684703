/**
 * The options of a run, one row each. The rows determine the type `SuiteOptions`, the options of
 * the command line, the settings in a result, and the settings that a rerun repeats.
 */
import * as v from 'valibot';
import { type OptionRow, switchOption, type ValuesOf } from '../../fixtures/base/option-row.ts';
import { defaultHeaderPrefix } from '../../fixtures/contract/vendor-names.ts';

const JOBS_MAX = 32;
const REPEAT_MAX = 100;
const REQUESTS_PER_SECOND_MAX = 10_000;
const countShape = v.pipe(v.number(), v.integer(), v.minValue(0));

interface SuiteOptionRow extends OptionRow {
  /** The schema of the value in a result, and the value reported when the option is not given. */
  readonly reported?: { readonly as: v.GenericSchema; readonly absent?: unknown };
  /** Set if a rerun repeats the value of the earlier run. */
  readonly isKeptInRerun?: true;
}

const reportedSwitch = { ...switchOption, reported: { as: v.boolean(), absent: false } } as const;

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
    isKeptInRerun: true,
    ...reportedSwitch,
  },
  readOnly: {
    flag: '--read-only',
    group: 'Which cases',
    help: 'run only cases that change nothing',
    conflicts: ['disruptive'],
    isKeptInRerun: true,
    ...reportedSwitch,
  },
  skipUnauthorized: {
    flag: '--skip-unauthorized',
    group: 'Which cases',
    help: 'skip the cases for which the user lacks a right, instead of ending the run',
    isKeptInRerun: true,
    ...switchOption,
    reported: { as: v.optional(v.boolean(), false), absent: false },
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
    reported: { as: countShape, absent: 1 },
  },
  requestsPerSecondMax: {
    flag: '--rate <number/s>',
    group: 'Load',
    help: 'maximum requests per second of the run',
    cli: { kind: 'per-second', max: REQUESTS_PER_SECOND_MAX },
    reported: { as: v.nullable(v.number()), absent: null },
  },
  repeat: {
    flag: '--repeat <count>',
    group: 'Load',
    help: 'runs of each case, to find unstable ones',
    cli: { kind: 'count', min: 1, max: REPEAT_MAX },
    default: { value: 1 },
    reported: { as: countShape, absent: 1 },
  },
  caseTimeLimitMs: {
    flag: '--case-time-limit <duration>',
    group: 'Load',
    help: 'time limit of a case',
    cli: { kind: 'positive-duration' },
    default: { value: 60_000, text: '60s' },
    reported: { as: countShape },
    isKeptInRerun: true,
  },
  requestTimeLimitMs: {
    flag: '--request-time-limit <duration>',
    group: 'Load',
    help: 'time limit of a request',
    cli: { kind: 'positive-duration' },
    default: { value: 15_000, text: '15s' },
    reported: { as: countShape },
    isKeptInRerun: true,
  },
  requireAllMust: {
    flag: '--require-all-must',
    group: 'Requirements',
    help: 'fail if a MUST of the contract was not tested',
    ...reportedSwitch,
  },
  failOn: {
    flag: '--fail-on <level>',
    group: 'Requirements',
    help: 'fail the run on a violated MUST only, or on a violated SHOULD too',
    cli: { kind: 'choices', values: ['should', 'must'] },
    default: { value: 'should' },
    reported: { as: v.optional(v.picklist(['should', 'must']), 'should'), absent: 'should' },
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

/** The schema of each option that a result reports, by name. */
type ReportedEntries = {
  readonly [Name in keyof SuiteRows as SuiteRows[Name] extends { readonly reported: object }
    ? Name
    : never]: SuiteRows[Name] extends { readonly reported: { readonly as: infer Schema } }
    ? Schema extends v.GenericSchema
      ? Schema
      : never
    : never;
};

/** The options of a run as a result reports them. */
export type ReportedOptions = {
  readonly [Name in keyof ReportedEntries]: v.InferOutput<ReportedEntries[Name]>;
};

/** Returns the schema of each option that a result reports, by name. */
export function reportedEntries(): ReportedEntries {
  const entries = reportedRows().map(([name, { reported }]) => [name, reported?.as]);
  return Object.fromEntries(entries);
}

/** Returns these options as a result reports them; omitted ones get the placeholder of their row. */
export function reportedOptions(options: Partial<SuiteOptions>): ReportedOptions {
  const valuesByName = new Map<string, unknown>(Object.entries(options));
  const entries = reportedRows().map(([name, { reported }]) => [
    name,
    valuesByName.get(name) ?? reported?.absent,
  ]);
  return Object.fromEntries(entries);
}

function reportedRows(): readonly (readonly [string, SuiteOptionRow])[] {
  const rows: readonly (readonly [string, SuiteOptionRow])[] = Object.entries(suiteOptions);
  return rows.filter(([, { reported }]) => reported !== undefined);
}

/** Returns the flag and the value of each option that a rerun repeats from an earlier run. */
export function optionsOfRerun(reported: ReportedOptions): readonly (readonly [string, unknown])[] {
  const values = new Map<string, unknown>(Object.entries(reported));
  const rows: readonly (readonly [string, SuiteOptionRow])[] = Object.entries(suiteOptions);
  return rows
    .filter(([, { isKeptInRerun }]) => isKeptInRerun)
    .map(([name, { flag }]) => [flag, values.get(name)]);
}
