/**
 * One option of `fleetbed simulate` as a row with everything about it; the plan, its file, the
 * command line, the plan in a result and the plan sent to workers are derived from it.
 */
import * as v from 'valibot';
import type { OptionRow as CommandOptionRow, OptionValue } from '../../fixtures/option-row.ts';
import {
  filled,
  milliseconds,
  number,
  count as resultCount,
  wholeNumber,
  yesOrNo,
} from './plan-values.ts';
import { optionalDuration } from './word-values.ts';

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
    Pick<CommandRow, 'cli' | 'usual'> {
  readonly group: OptionGroup;
  /** The value in a plan file. */
  readonly word: v.GenericSchema;
  /** Its name in the plan, with the unit as suffix; absent where several options form one field. */
  readonly field?: string;
  /** The value in the plan. */
  readonly plan?: v.GenericSchema;
  /** Converts the plan-file value to the plan's; when absent, they are the same. */
  readonly toPlan?: (word: never) => unknown;
  /** The plan's value when the option is not given; absent: none. */
  readonly absent?: unknown;
  /** Default of a policy where neither the plan nor the cohort has a value. */
  readonly fallback?: unknown;
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

/** The schemas of a plan file's members, by name. */
export type WordEntries<R extends Rows> = { readonly [Name in keyof R]: R[Name]['word'] };

/** The schemas of the plan fields that have a row of their own, by field. */
export type PlanEntries<R extends Rows> = {
  readonly [Name in keyof R as FieldOf<R[Name]>]: R[Name] extends {
    readonly plan: infer Plan extends v.GenericSchema;
  }
    ? Plan
    : never;
};

/** The schemas of a result's members, by field. */
export type ResultEntries<R extends Rows> = {
  readonly [Name in keyof R as R[Name] extends { readonly result: v.GenericSchema }
    ? FieldOf<R[Name]>
    : never]: R[Name] extends { readonly result: infer Result extends v.GenericSchema }
    ? Result
    : never;
};

type FieldOf<Row> = Row extends { readonly field: infer Field extends string } ? Field : never;

export function wordEntries<R extends Rows>(rows: R): WordEntries<R> {
  const entries = Object.entries(rows).map(([name, { word }]) => [name, word]);
  return Object.fromEntries(entries) as WordEntries<R>;
}

export function planEntries<R extends Rows>(rows: R): PlanEntries<R> {
  const entries = Object.values(rows).flatMap(({ field, plan }) =>
    field === undefined || plan === undefined ? [] : [[field, plan]],
  );
  return Object.fromEntries(entries) as PlanEntries<R>;
}

export function resultEntries<R extends Rows>(rows: R): ResultEntries<R> {
  const entries = Object.values(rows).flatMap(({ field, result }) =>
    field === undefined || result === undefined ? [] : [[field, result]],
  );
  return Object.fromEntries(entries) as ResultEntries<R>;
}

/** Returns the plan fields for these plan-file values, by their rows; omits those not given. */
export function fieldsOfWords(rows: Rows, words: object): Record<string, unknown> {
  const given = Object.entries(words).flatMap(([name, word]) => {
    const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
    if (row?.field === undefined || word === undefined) return [];
    return [[row.field, row.toPlan ? row.toPlan(word as never) : word]];
  });
  return Object.fromEntries(given);
}

/** Common value kinds with their schemas for plan file, plan, command line and result. */
export const kinds = {
  count: (least: number, most: number) => ({
    cli: { kind: 'count', least, most } as const,
    word: v.optional(wholeNumber(least, most)),
    plan: v.optional(wholeNumber(least, most)),
    result: v.exactOptional(resultCount),
  }),
  /** A duration of at least `least` milliseconds; a bare number is seconds. */
  duration: (least: number) => ({
    cli: { kind: least === 0 ? 'duration' : 'positive-duration' } as const,
    word: optionalDuration,
    plan: v.optional(milliseconds(least)),
    result: v.exactOptional(number),
  }),
  /** A text with an optional maximum number of characters. */
  text: (most?: number) => ({
    cli: { kind: 'text' } as const,
    word: v.optional(filled),
    plan: v.optional(
      most === undefined ? filled : v.pipe(filled, v.maxLength(most, 'is too long')),
    ),
    result: v.exactOptional(v.string()),
  }),
  /**
   * A file or folder: it belongs to the machine, and is omitted from results.
   * @param lack what a worker without one lacks
   */
  path: (lack: string) => ({
    lack,
    cli: { kind: 'text' } as const,
    word: v.optional(filled),
    plan: v.optional(filled),
    owner: 'worker' as const,
  }),
  switch: () => ({
    cli: { kind: 'switch' } as const,
    word: v.optional(yesOrNo),
    plan: v.optional(yesOrNo),
    result: v.exactOptional(v.boolean()),
  }),
};
