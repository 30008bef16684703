/** The result of a benchmark as JSON: written by `--json`, read by `--compare`. */
import * as v from 'valibot';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';
import { type BenchRow, rowShape } from './row.ts';

const resultShape = v.object({
  schema: v.literal('fleetbed-benchmark/1'),
  /** Facts of the environment by label, in display order. */
  environment: v.record(v.string(), v.string()),
  parts: v.array(v.object({ name: v.string(), rows: v.array(rowShape) })),
});

/** All measurements of one run. */
export type BenchResult = v.InferOutput<typeof resultShape>;
export type PartResult = BenchResult['parts'][number];

/** Returns the result of these parts. */
export function resultOf(
  environment: Readonly<Record<string, string>>,
  parts: readonly PartResult[],
): BenchResult {
  return { schema: 'fleetbed-benchmark/1', environment: { ...environment }, parts: [...parts] };
}

/**
 * Reads an earlier result.
 * @throws CommandError when the file cannot be read or is not a result
 */
export async function readResult(option: string, path: string): Promise<BenchResult> {
  const text = await readNamedFile(option, path);
  try {
    return v.parse(resultShape, JSON.parse(text));
  } catch (error) {
    const remedy = 'give a file written by npm run bench -- --json FILE';
    const sentence = `${option}: ${path} is not a benchmark result; ${remedy}.`;
    throw new CommandError(sentence, exitCodes.setUp, error);
  }
}

/**
 * Facts of the environment that must agree where rows of two results stand in one table: figures of
 * another machine, or of another day, say nothing about each other.
 */
const machineFacts = ['machine', 'memory', 'cores'] as const;
const DAY_CHARACTERS = 'YYYY-MM-DD'.length;

/**
 * Returns one result with the parts of several of one machine and day, in the order given. A part
 * that was measured again replaces the earlier one.
 * @throws CommandError when two of them are of different machines or days
 */
export function joinedResult(
  first: BenchResult,
  ...furtherResults: readonly BenchResult[]
): BenchResult {
  for (const furtherResult of furtherResults) {
    requireSameMachine('--table', first, furtherResult);
    requireSame('--table', 'node', [first, furtherResult]);
  }
  const day = dayOf(first);
  for (const furtherResult of furtherResults) {
    if (dayOf(furtherResult) === day) continue;
    throw refusal('--table', `one result is of ${day}, another of ${dayOf(furtherResult)}`);
  }
  const parts = new Map(
    [first, ...furtherResults].flatMap((one) => one.parts.map((part) => [part.name, part])),
  );
  return { ...first, parts: [...parts.values()] };
}

/** @throws CommandError when the results are of different machines */
export function requireSameMachine(option: string, one: BenchResult, other: BenchResult): void {
  for (const fact of machineFacts) requireSame(option, fact, [one, other]);
}

function requireSame(option: string, fact: string, results: readonly BenchResult[]): void {
  const [here, there] = results.map(({ environment }) => environment[fact] ?? 'unknown');
  if (here === there) return;
  throw refusal(option, `the ${fact} of one result is ${here}, that of another ${there}`);
}

function refusal(option: string, difference: string): CommandError {
  const remedy = 'measure both on one machine, or show them in tables of their own';
  return new CommandError(`${option}: ${difference}; ${remedy}.`, exitCodes.setUp);
}

/** Returns the day of a result, such as `2026-11-25`. */
export function dayOf({ environment }: BenchResult): string {
  return (environment.date ?? 'an unknown day').slice(0, DAY_CHARACTERS);
}

/** The change of one row between two results. */
export interface RowChange {
  readonly part: string;
  readonly title: string;
  /** Median of the ratio; undefined when that run lacks the row. */
  readonly before: number | undefined;
  readonly now: number | undefined;
  /** Relative change of the ratio: 0.1 is an increase by 10 percent. */
  readonly change: number | undefined;
}

/**
 * Returns the change of every row in the parts that were measured now, in their order, followed by
 * rows that only the earlier result has.
 */
export function changesOf(before: BenchResult, now: BenchResult): readonly RowChange[] {
  const measuredParts = now.parts.map(({ name }) => name);
  const parts = before.parts.filter(({ name }) => measuredParts.includes(name));
  const [ratiosBefore, ratiosNow] = [ratiosOf({ ...before, parts }), ratiosOf(now)];
  return [...new Map([...ratiosNow, ...ratiosBefore]).values()].map(({ part, row: { title } }) => {
    const key = keyOf(part, title);
    const [was, is] = [
      ratiosBefore.get(key)?.row.ratio.median,
      ratiosNow.get(key)?.row.ratio.median,
    ];
    const change = !was || is === undefined ? undefined : is / was - 1;
    return { part, title, before: was, now: is, change };
  });
}

function ratiosOf({ parts }: BenchResult): Map<string, { part: string; row: BenchRow }> {
  return new Map(
    parts.flatMap(({ name: part, rows }) =>
      rows.map((row) => [keyOf(part, row.title), { part, row }] as const),
    ),
  );
}

function keyOf(part: string, title: string): string {
  return `${part}\0${title}`;
}
