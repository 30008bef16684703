/**
 * Measures contenders in alternating rounds, so that a ratio stays valid when the speed of the
 * machine changes.
 */
import type { Output } from '../../output/output.ts';
import type { Children } from './children.ts';
import type { RoundFigures } from './row.ts';

/** The input of every part of the benchmark. */
export interface BenchContext {
  readonly children: Children;
  readonly output: Output;
  /** True for a short run with smaller quantities and fewer rounds. */
  readonly quick: boolean;
  readonly rounds: number;
}

/** Something that is measured again in each round. */
export interface Contender {
  readonly name: string;
  /** Returns one figure, in the unit of its row. */
  measure(): Promise<number>;
}

/**
 * Measures all contenders in turn, round by round. Every second round runs in reverse order, so
 * that no contender always follows the same one.
 * @returns the figures of each, in the order of the contenders
 */
export async function inRounds<const All extends readonly Contender[]>(
  { output }: Pick<BenchContext, 'output'>,
  { what, rounds, contenders }: { what: string; rounds: number; contenders: All },
): Promise<{ [At in keyof All]: RoundFigures }> {
  const figures = contenders.map(({ name }) => ({ name, values: [] as number[] }));
  for (let round = 1; round <= rounds; round++) {
    output.progress(`${what}, round ${round} of ${rounds}`);
    const turns = contenders.map(({ measure }, at) => ({ measure, at }));
    for (const { measure, at } of round % 2 === 0 ? turns.toReversed() : turns) {
      figures[at]?.values.push(await measure());
    }
  }
  return figures as { [At in keyof All]: RoundFigures };
}
