/** The interface of a part of the soak. */
import type { Output } from '../../output/output.ts';

/** What every part of the soak receives. */
interface SoakOptions {
  /** Computed figures go to `line`, progress to `progress`. */
  readonly output: Output;
  /** The same seed gives the same run. */
  readonly seed: number;
  /** Runs about a minute instead of the full duration. */
  readonly short: boolean;
  /** Number of repetitions; the part's own default unless given. */
  readonly times: number | undefined;
}

/**
 * Runs one part to its end, including cleanup of its processes and folders; returns one sentence
 * per problem.
 */
export type SoakPart = (options: SoakOptions) => Promise<readonly string[]>;
