/**
 * One option of `fleetbed simulate` as a row: everything that is said of it stands here, and the
 * plan, its file, the command line, the plan in a result and what a worker is sent come from it.
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

/** How the command line reads the value; `own`: in the way of an option that commands share. */
export type CliValue =
  | OptionValue
  | { readonly kind: 'weights'; readonly names?: readonly string[] }
  /** Words such as `ramp: 30s, devices: 100`; a list of them is given over several uses. */
  | { readonly kind: 'words'; readonly isList: boolean }
  | { readonly kind: 'device-share' | 'rates' | 'parameters' | 'thresholds' | 'own' };

type CommandRow = CommandOptionRow<CliValue>;

/**
 * One option. Its key in the table is its name in a plan file, and in the options as read; it has
 * neither flag nor help where an option that commands share brings its own.
 */
export interface OptionRow
  extends Partial<Pick<CommandRow, 'flag' | 'help'>>,
    Pick<CommandRow, 'cli' | 'oldNames' | 'usual'> {
  readonly group: OptionGroup;
  /** The value in a plan file. */
  readonly word: v.GenericSchema;
  /** Its name in the plan, with its unit at the end; absent where several options make up a field. */
  readonly field?: string;
  /** The value in the plan. */
  readonly plan?: v.GenericSchema;
  /** From the word to the value in the plan; absent: the same. */
  readonly toPlan?: (word: never) => unknown;
  /** What a plan has that is made of words without this one; absent: nothing. */
  readonly absent?: unknown;
  /** Of a policy: what holds where neither the plan nor the cohort has a value. */
  readonly fallback?: unknown;
  /** Whose word counts in a run on workers; absent: the coordinator's. */
  readonly owner?: 'worker';
  /** What a worker lacks that has none where the plan of the coordinator has one. */
  readonly lack?: string;
  /** No message shows the value. */
  readonly isSecret?: true;
  /** The value in a result; absent: it stays out. */
  readonly result?: v.GenericSchema;
}

type Rows = Readonly<Record<string, OptionRow>>;

/** The schemas of a plan file's members, by name. */
export type WordEntries<R extends Rows> = { readonly [Name in keyof R]: R[Name]['word'] };

/** The schemas of a plan's fields that rows have of their own, by field. */
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

/** The fields that these words come to, each by its row; without those that are not given. */
export function fieldsOfWords(rows: Rows, words: object): Record<string, unknown> {
  const given = Object.entries(words).flatMap(([name, word]) => {
    const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
    if (row?.field === undefined || word === undefined) return [];
    return [[row.field, row.toPlan ? row.toPlan(word as never) : word]];
  });
  return Object.fromEntries(given);
}

/** The kinds of value that need no words of their own in a row: file, plan, command line, result. */
export const kinds = {
  /** @param mostOnLine the largest that the command line takes, where that is less */
  count: (least: number, most: number, mostOnLine = most) => ({
    cli: { kind: 'count', least, most: mostOnLine } as const,
    word: v.optional(wholeNumber(least, most)),
    plan: v.optional(wholeNumber(least, most)),
    result: v.exactOptional(resultCount),
  }),
  /** A length of time from `least` milliseconds; a bare number is seconds. */
  duration: (least: number) => ({
    cli: { kind: least === 0 ? 'duration' : 'positive-duration' } as const,
    word: optionalDuration,
    plan: v.optional(milliseconds(least)),
    result: v.exactOptional(number),
  }),
  /** A text; of more characters than that it is too long. */
  text: (most?: number) => ({
    cli: { kind: 'text' } as const,
    word: v.optional(filled),
    plan: v.optional(
      most === undefined ? filled : v.pipe(filled, v.maxLength(most, 'is too long')),
    ),
    result: v.exactOptional(v.string()),
  }),
  /**
   * A file or folder: it belongs to the machine, and stays out of results.
   * @param lack what a worker lacks that has none
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
