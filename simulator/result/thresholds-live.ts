/** Looks at a run that is underway by those thresholds that may end it early. */
import { thresholdOf } from '../plan/thresholds-parser.ts';
import { isHopeless } from './thresholds.ts';
import type { Measures } from './thresholds-measures.ts';

/** Looks in a row at which a threshold must be beyond reach: one bad second ends no run. */
const HOPELESS_LOOKS = 3;

/** Which thresholds of a plan may end its run. */
export interface AbortingPlan {
  readonly thresholds?: readonly string[] | undefined;
  /** All of them may; else those that say so. */
  readonly abortOnThreshold?: boolean | undefined;
}

/** Knows for how long each threshold has been out of reach. */
export class ThresholdWatch {
  readonly #aborting;
  readonly #looks: number[];

  /** @throws ThresholdError when one is no threshold */
  constructor({ thresholds = [], abortOnThreshold = false }: AbortingPlan) {
    this.#aborting = thresholds
      .map(thresholdOf)
      .filter(({ abortsRun }) => abortsRun || abortOnThreshold);
    this.#looks = this.#aborting.map(() => 0);
  }

  /** To be called about once a second; whether the run is to end. */
  look(measures: () => Measures): boolean {
    if (this.#aborting.length === 0) return false;
    const now = measures();
    for (const [position, threshold] of this.#aborting.entries()) {
      const before = this.#looks[position] ?? 0;
      this.#looks[position] = isHopeless(threshold, now) ? before + 1 : 0;
    }
    return this.#looks.some((looks) => looks >= HOPELESS_LOOKS);
  }
}
