/** A clock for tests of what is spread over rounds of the event loop. */
import { ManualClock } from '../../fixtures/clock.ts';

/** Each look at it takes a millisecond: a few requests fill a round. */
export class LookedAtClock extends ManualClock {
  #looks = 0;

  override monotonicMs(): number {
    this.#looks += 1;
    return super.monotonicMs() + this.#looks;
  }
}
