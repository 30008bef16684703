/**
 * Measures programs in alternating rounds, so that a ratio stays valid when the speed of the
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
export interface MeasuredProgram {
  readonly name: string;
  /** Returns one figure, in the unit of its row. */
  measure(): Promise<number>;
}

/**
 * Measures all programs in turn, round by round. Every second round runs in reverse order, so
 * that no program always follows the same one.
 * @returns the figures of each, in the order of the programs
 */
export async function measureInRounds<const All extends readonly MeasuredProgram[]>(
  { output }: Pick<BenchContext, 'output'>,
  { title, rounds, programs }: { title: string; rounds: number; programs: All },
): Promise<{ [At in keyof All]: RoundFigures }> {
  const figures = programs.map(({ name }) => ({ name, values: [] as number[] }));
  for (let round = 1; round <= rounds; round++) {
    output.progress(`${title}, round ${round} of ${rounds}`);
    const turns = programs.map(({ measure }, at) => ({ measure, at }));
    for (const { measure, at } of round % 2 === 0 ? turns.toReversed() : turns) {
      figures[at]?.values.push(await measure());
    }
  }
  return figures as { [At in keyof All]: RoundFigures };
}
