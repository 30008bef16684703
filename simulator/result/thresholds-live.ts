/** Checks a running fleet against the thresholds that may end it early. */
import { thresholdOf } from '../plan/thresholds-parser.ts';
import { canNoLongerBeMet } from './thresholds.ts';
import type { Measures } from './thresholds-measures.ts';

/** Consecutive checks at which a threshold must be out of reach: one bad second ends no run. */
const HOPELESS_LOOKS = 3;

/** The thresholds of a plan that may end its run. */
export interface AbortingPlan {
  readonly thresholds?: readonly string[] | undefined;
  /** True when all of them may; otherwise only those marked for it. */
  readonly abortOnThreshold?: boolean | undefined;
}

/** Tracks how long each threshold has been out of reach. */
export class ThresholdWatch {
  readonly #aborting;
  readonly #looks: number[];

  /** @throws ThresholdError when one is invalid */
  constructor({ thresholds = [], abortOnThreshold = false }: AbortingPlan) {
    this.#aborting = thresholds
      .map(thresholdOf)
      .filter(({ abortsRun }) => abortsRun || abortOnThreshold);
    this.#looks = this.#aborting.map(() => 0);
  }

  /** Returns true when the run has to end; to be called about once a second. */
  look(measures: () => Measures): boolean {
    if (this.#aborting.length === 0) return false;
    const now = measures();
    for (const [position, threshold] of this.#aborting.entries()) {
      const before = this.#looks[position] ?? 0;
      this.#looks[position] = canNoLongerBeMet(threshold, now) ? before + 1 : 0;
    }
    return this.#looks.some((looks) => looks >= HOPELESS_LOOKS);
  }
}
