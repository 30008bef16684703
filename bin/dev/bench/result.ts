/** The result of a benchmark as JSON: written by `--json`, read by `--compare`. */
import * as v from 'valibot';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';
import { type Row, rowShape } from './row.ts';

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
 * @throws CommandError when the file cannot be read or is no result
 */
export async function readResult(option: string, path: string): Promise<BenchResult> {
  const text = await readNamedFile(option, path);
  try {
    return v.parse(resultShape, JSON.parse(text));
  } catch (error) {
    const wanted = 'give a file written by npm run bench -- --json FILE';
    const sentence = `${option}: ${path} is not a benchmark result; ${wanted}.`;
    throw new CommandError(sentence, exitCodes.setUp, error);
  }
}

/** The change of one row between two results. */
export interface Change {
  readonly part: string;
  readonly what: string;
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
export function changesOf(before: BenchResult, now: BenchResult): readonly Change[] {
  const measured = now.parts.map(({ name }) => name);
  const parts = before.parts.filter(({ name }) => measured.includes(name));
  const [old, recent] = [ratiosOf({ ...before, parts }), ratiosOf(now)];
  return [...new Map([...recent, ...old]).values()].map(({ part, row: { what } }) => {
    const key = keyOf(part, what);
    const [was, is] = [old.get(key)?.row.ratio.median, recent.get(key)?.row.ratio.median];
    const change = !was || is === undefined ? undefined : is / was - 1;
    return { part, what, before: was, now: is, change };
  });
}

function ratiosOf({ parts }: BenchResult): Map<string, { part: string; row: Row }> {
  return new Map(
    parts.flatMap(({ name: part, rows }) =>
      rows.map((row) => [keyOf(part, row.what), { part, row }] as const),
    ),
  );
}

function keyOf(part: string, what: string): string {
  return `${part}\0${what}`;
}
