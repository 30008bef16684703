/** Measures contenders in alternating rounds, so that a ratio holds on a machine that changes. */
import type { Output } from '../../output/output.ts';
import type { Children } from './children.ts';
import type { Measured } from './row.ts';

/** The input of every part of the benchmark. */
export interface BenchContext {
  readonly children: Children;
  readonly output: Output;
  /** A short form with smaller quantities and fewer rounds. */
  readonly quick: boolean;
  readonly rounds: number;
}

/** Something that is measured again in each round. */
export interface Contender {
  readonly name: string;
  /** One figure, in the unit of its row. */
  measure(): Promise<number>;
}

/**
 * Measures all of them in turn, round by round; every second round in the reverse order, so that
 * none always has the same one before it.
 * @returns the figures of each, in the order of the contenders
 */
export async function inRounds<const All extends readonly Contender[]>(
  { output }: Pick<BenchContext, 'output'>,
  { what, rounds, contenders }: { what: string; rounds: number; contenders: All },
): Promise<{ [At in keyof All]: Measured }> {
  const figures = contenders.map(({ name }) => ({ name, values: [] as number[] }));
  for (let round = 1; round <= rounds; round++) {
    output.progress(`${what}, round ${round} of ${rounds}`);
    const turns = contenders.map(({ measure }, at) => ({ measure, at }));
    for (const { measure, at } of round % 2 === 0 ? turns.toReversed() : turns) {
      figures[at]?.values.push(await measure());
    }
  }
  return figures as { [At in keyof All]: Measured };
}
