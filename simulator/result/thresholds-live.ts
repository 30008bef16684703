/** Checks during a run whether its thresholds can still be met, and ends the run early if not. */
import { thresholdOf } from '../plan/thresholds-parser.ts';
import { isUnattainable } from './thresholds.ts';
import type { Measures } from './thresholds-measures.ts';

/**
 * Number of consecutive checks at which a threshold must be unattainable, so that one bad second
 * does not end the run.
 */
const HOPELESS_CHECKS = 3;

/** The thresholds of a plan. */
export interface AbortingPlan {
  readonly thresholds?: readonly string[] | undefined;
  /** True when every threshold may end the run; otherwise only those with `abort on fail` may. */
  readonly abortOnThreshold?: boolean | undefined;
}

/** Counts for each threshold the consecutive checks at which it was unattainable. */
export class ThresholdWatch {
  readonly #aborting;
  readonly #hopelessChecks: number[];

  /** @throws ThresholdError when a threshold is invalid */
  constructor({ thresholds = [], abortOnThreshold = false }: AbortingPlan) {
    this.#aborting = thresholds
      .map(thresholdOf)
      .filter(({ abortsRun }) => abortsRun || abortOnThreshold);
    this.#hopelessChecks = this.#aborting.map(() => 0);
  }

  /** Returns true when the run must end. Call it about once a second. */
  check(measures: () => Measures): boolean {
    if (this.#aborting.length === 0) return false;
    const currentMeasures = measures();
    for (const [position, threshold] of this.#aborting.entries()) {
      const hopelessCount = this.#hopelessChecks[position] ?? 0;
      this.#hopelessChecks[position] = isUnattainable(threshold, currentMeasures)
        ? hopelessCount + 1
        : 0;
    }
    return this.#hopelessChecks.some((count) => count >= HOPELESS_CHECKS);
  }
}
