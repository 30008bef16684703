/**
 * The type of an option of `fleetbed simulate`. One row defines everything about an option: its
 * value in the plan, in a plan file, on the command line, in a result, and in the plan sent to
 * workers.
 */
import * as v from 'valibot';
import type { OptionRow as CommandOptionRow, OptionValue } from '../../fixtures/base/option-row.ts';
import {
  duration,
  nonEmptyText,
  number,
  count as resultCount,
  wholeNumber,
  yesOrNo,
} from './plan-values.ts';

/** A heading in the help text. */
type OptionGroup = 'Fleet' | 'Load' | 'Devices' | 'Connection' | 'Results';

/**
 * How the command line parses the value. `own`: the row has no flag, because several commands share
 * the option.
 */
export type CliValue =
  | OptionValue
  | { readonly kind: 'weights'; readonly names?: readonly string[] }
  /** Text such as `ramp: 30s, devices: 100`; repeating the option makes a list. */
  | { readonly kind: 'pairs'; readonly isList: boolean }
  | { readonly kind: 'device-share' | 'rates' | 'parameters' | 'thresholds' | 'own' };

type CommandOption = CommandOptionRow<CliValue>;

/**
 * One option. Its key in the table is its name in a plan file. `flag` and `help` are absent for an
 * option that several commands share.
 */
export interface PlanOption
  extends Partial<Pick<CommandOption, 'flag' | 'help'>>,
    Pick<CommandOption, 'cli' | 'default'> {
  readonly group: OptionGroup;
  /** Schema of the value in a plan file, which also converts it to the value in the plan. */
  readonly value: v.GenericSchema;
  /** Name in the plan, with the unit as suffix; absent when several options form one field. */
  readonly field?: string;
  /** Default value that the help text does not show; undefined when there is none. */
  readonly absent?: unknown;
  /** Process that supplies the value in a run on workers; the coordinator when absent. */
  readonly owner?: 'worker';
  /** Name for the missing value in the message to a worker that needs one and has none. */
  readonly lack?: string;
  /** Schema of the value in a result; when absent, results omit the value. */
  readonly result?: v.GenericSchema;
}

type PlanOptions = Readonly<Record<string, PlanOption>>;

/** Option rows without their group, which `groupRows` adds. */
export type UngroupedPlanOptions = Readonly<Record<string, Omit<PlanOption, 'group'>>>;

/** The options by name, in the notation of a plan file. All may be absent. */
export type InputOf<R extends PlanOptions> = {
  readonly [Name in keyof R]?: Readonly<v.InferInput<R[Name]['value']>> | undefined;
};

/** The fields of a plan that a single option defines. A field without a default may be absent. */
export type FieldsOf<R extends PlanOptions> = {
  [Name in keyof R as R[Name] extends OptionWithDefault ? FieldOf<R[Name]> : never]: ValueOf<
    R[Name]
  >;
} & {
  [Name in keyof R as R[Name] extends OptionWithDefault ? never : FieldOf<R[Name]>]?:
    | ValueOf<R[Name]>
    | undefined;
};

type OptionWithDefault = { readonly default: object } | { readonly absent: unknown };
type FieldOf<Row> = Row extends { readonly field: infer Field extends string } ? Field : never;
type ValueOf<Row extends PlanOption> = v.InferOutput<Row['value']>;

/** The schemas of a plan in a result, by field. */
export type ResultEntries<R extends PlanOptions> = {
  readonly [Name in keyof R as R[Name] extends { readonly result: v.GenericSchema }
    ? FieldOf<R[Name]>
    : never]: R[Name] extends { readonly result: infer Result extends v.GenericSchema }
    ? Result
    : never;
};

/** Returns the schemas of a plan file's members, by name, with the defaults. */
export function entriesOf(rows: PlanOptions): Record<string, v.GenericSchema> {
  return mapRows(rows, ({ value, default: given, absent }) =>
    v.optional(value, given?.value ?? absent),
  );
}

/**
 * Returns the schemas of a plan file's members, by name, without defaults. A cohort uses them,
 * because it contains only the options that it overrides.
 */
export function overridesOf(rows: PlanOptions): Record<string, v.GenericSchema> {
  return mapRows(rows, ({ value }) => v.optional(value));
}

function mapRows(rows: PlanOptions, schemaOf: (row: PlanOption) => v.GenericSchema) {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, schemaOf(row)]));
}

/**
 * Renames values from option names to field names of the plan. Values without a field are omitted.
 */
export function fieldsOf<R extends PlanOptions>(rows: R, values: object): FieldsOf<R> {
  const fields = Object.entries(values).flatMap(([name, value]) => {
    const field = Object.hasOwn(rows, name) ? rows[name]?.field : undefined;
    return field === undefined || value === undefined ? [] : [[field, value]];
  });
  return Object.fromEntries(fields) as FieldsOf<R>;
}

export function resultEntries<R extends PlanOptions>(rows: R): ResultEntries<R> {
  const entries = Object.values(rows).flatMap(({ field, result }) =>
    field === undefined || result === undefined ? [] : [[field, result]],
  );
  return Object.fromEntries(entries) as ResultEntries<R>;
}

/** Common kinds of option values, with their schemas for plan, command line and result. */
export const kinds = {
  count: (min: number, max: number) => ({
    cli: { kind: 'count', min, max } as const,
    value: wholeNumber(min, max),
    result: v.exactOptional(resultCount),
  }),
  /** A duration of at least `min` milliseconds; a number without a unit is in seconds. */
  duration: (min: number) => ({
    cli: { kind: min === 0 ? 'duration' : 'positive-duration' } as const,
    value: duration(min),
    result: v.exactOptional(number),
  }),
  /** A string with an optional maximum number of characters. */
  text: (max = Number.POSITIVE_INFINITY) => ({
    cli: { kind: 'text' } as const,
    value: v.pipe(nonEmptyText, v.maxCodePoints(max, 'is too long')),
    result: v.exactOptional(v.string()),
  }),
  /**
   * A path of a file or folder on the machine of the worker; results omit it.
   * @param lack name for the missing path in the message to a worker that needs one
   */
  path: (lack: string) => ({
    lack,
    cli: { kind: 'text' } as const,
    value: nonEmptyText,
    owner: 'worker' as const,
  }),
  switch: () => ({
    cli: { kind: 'switch' } as const,
    value: yesOrNo,
    result: v.exactOptional(v.boolean()),
  }),
};
