/**
 * One option of `fleetbed simulate` as a row with everything about it; the plan, its file, the
 * command line, the plan in a result and the plan sent to workers are derived from it.
 */
import * as v from 'valibot';
import type { OptionRow as CommandOptionRow, OptionValue } from '../../fixtures/option-row.ts';
import {
  duration,
  filled,
  number,
  count as resultCount,
  wholeNumber,
  yesOrNo,
} from './plan-values.ts';

/** A heading of the help. */
type OptionGroup = 'Fleet' | 'Load' | 'Devices' | 'Connection' | 'Results';

/** How the command line parses the value; `own`: like an option shared between commands. */
export type CliValue =
  | OptionValue
  | { readonly kind: 'weights'; readonly names?: readonly string[] }
  /** Words such as `ramp: 30s, devices: 100`; a list is given by repeating the option. */
  | { readonly kind: 'words'; readonly isList: boolean }
  | { readonly kind: 'device-share' | 'rates' | 'parameters' | 'thresholds' | 'own' };

type CommandRow = CommandOptionRow<CliValue>;

/**
 * One option. Its key in the table is its name in a plan file, and in the options as read; it has
 * neither flag nor help where an option that commands share brings its own.
 */
export interface OptionRow
  extends Partial<Pick<CommandRow, 'flag' | 'help'>>,
    Pick<CommandRow, 'cli' | 'default'> {
  readonly group: OptionGroup;
  /** Checks the value of a plan file and converts it to the plan's. */
  readonly value: v.GenericSchema;
  /** Its name in the plan, with the unit as suffix; absent where several options form one field. */
  readonly field?: string;
  /** The value of a plan file that does not have the option, where its help shows no default. */
  readonly absent?: unknown;
  /** Whose value applies in a run on workers; defaults to the coordinator's. */
  readonly owner?: 'worker';
  /** What a worker lacks when it has no value and the coordinator's plan has one. */
  readonly lack?: string;
  /** The value is never shown in a message. */
  readonly isSecret?: true;
  /** The value in a result; absent: omitted. */
  readonly result?: v.GenericSchema;
}

type Rows = Readonly<Record<string, OptionRow>>;

/** Rows whose group is not yet given. */
export type UngroupedRows = Readonly<Record<string, Omit<OptionRow, 'group'>>>;

/** The options as a plan file writes them, by name; all may be absent. */
export type WordsOf<R extends Rows> = {
  readonly [Name in keyof R]?: Readonly<v.InferInput<R[Name]['value']>> | undefined;
};

/** The fields of a plan that have a row of their own; those without a default may be absent. */
export type FieldsOf<R extends Rows> = {
  [Name in keyof R as R[Name] extends HasDefault ? FieldOf<R[Name]> : never]: ValueOf<R[Name]>;
} & {
  [Name in keyof R as R[Name] extends HasDefault ? never : FieldOf<R[Name]>]?:
    | ValueOf<R[Name]>
    | undefined;
};

type HasDefault = { readonly default: object } | { readonly absent: unknown };
type FieldOf<Row> = Row extends { readonly field: infer Field extends string } ? Field : never;
type ValueOf<Row extends OptionRow> = v.InferOutput<Row['value']>;

/** The schemas of a result's members, by field. */
export type ResultEntries<R extends Rows> = {
  readonly [Name in keyof R as R[Name] extends { readonly result: v.GenericSchema }
    ? FieldOf<R[Name]>
    : never]: R[Name] extends { readonly result: infer Result extends v.GenericSchema }
    ? Result
    : never;
};

/** The schemas of a plan file's members, by name; each fills in its default. */
export function entriesOf(rows: Rows): Record<string, v.GenericSchema> {
  return mapped(rows, ({ value, default: given, absent }) =>
    v.optional(value, given?.value ?? absent),
  );
}

/** The same without the defaults, for a part of a fleet that has only what differs. */
export function overridesOf(rows: Rows): Record<string, v.GenericSchema> {
  return mapped(rows, ({ value }) => v.optional(value));
}

function mapped(rows: Rows, schemaOf: (row: OptionRow) => v.GenericSchema) {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, schemaOf(row)]));
}

/** Names values by their fields in the plan; those without one are left out. */
export function fieldsOf<R extends Rows>(rows: R, values: object): FieldsOf<R> {
  const fields = Object.entries(values).flatMap(([name, value]) => {
    const field = Object.hasOwn(rows, name) ? rows[name]?.field : undefined;
    return field === undefined || value === undefined ? [] : [[field, value]];
  });
  return Object.fromEntries(fields) as FieldsOf<R>;
}

export function resultEntries<R extends Rows>(rows: R): ResultEntries<R> {
  const entries = Object.values(rows).flatMap(({ field, result }) =>
    field === undefined || result === undefined ? [] : [[field, result]],
  );
  return Object.fromEntries(entries) as ResultEntries<R>;
}

/** Common value kinds with their schemas for plan, command line and result. */
export const kinds = {
  count: (min: number, max: number) => ({
    cli: { kind: 'count', min, max } as const,
    value: wholeNumber(min, max),
    result: v.exactOptional(resultCount),
  }),
  /** A duration of at least `least` milliseconds; a number without a unit is in seconds. */
  duration: (min: number) => ({
    cli: { kind: min === 0 ? 'duration' : 'positive-duration' } as const,
    value: duration(min),
    result: v.exactOptional(number),
  }),
  /** A text with an optional maximum number of characters. */
  text: (max = Number.POSITIVE_INFINITY) => ({
    cli: { kind: 'text' } as const,
    value: v.pipe(filled, v.maxCodePoints(max, 'is too long')),
    result: v.exactOptional(v.string()),
  }),
  /**
   * A file or folder: it belongs to the machine, and is omitted from results.
   * @param lack what a worker without one lacks
   */
  path: (lack: string) => ({
    lack,
    cli: { kind: 'text' } as const,
    value: filled,
    owner: 'worker' as const,
  }),
  switch: () => ({
    cli: { kind: 'switch' } as const,
    value: yesOrNo,
    result: v.exactOptional(v.boolean()),
  }),
};
