/** A clock for tests of work that is spread over iterations of the event loop. */
import { ManualClock } from '../../fixtures/base/clock.ts';

/** A clock that advances a millisecond whenever it is read, so that a few requests fill an iteration. */
export class ObservedClock extends ManualClock {
  #looks = 0;

  override monotonicMs(): number {
    this.#looks += 1;
    return super.monotonicMs() + this.#looks;
  }
}
