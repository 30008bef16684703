/** The interface of a part of the soak. */
import type { Output } from '../../output/output.ts';

/** The input of every part of the soak. */
interface SoakOptions {
  /** Computed figures go to `line`, progress to `progress`. */
  readonly output: Output;
  /** Seed of the run; the same seed gives the same run. */
  readonly seed: number;
  /** True for a run of about a minute instead of the full duration. */
  readonly short: boolean;
  /** Number of repetitions; undefined for the part's own default. */
  readonly times: number | undefined;
}

/**
 * Runs one part to its end, and cleans its processes and folders up. Returns one sentence per
 * problem.
 */
export type SoakPart = (options: SoakOptions) => Promise<readonly string[]>;
