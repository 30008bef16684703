/**
 * The clock by which the suite waits in a self-test. A defect keeps many effects away for which a
 * case waits seconds; before a server at hand a part of that is plenty. Limits stay as they are.
 */
import { BaseClock, type Clock, type Timer } from '../../fixtures/clock.ts';

/** Passes `factor` times as fast for whoever waits for an effect; its moments are those of `base`. */
export class HurriedClock extends BaseClock {
  readonly #base: Clock;
  readonly #factor: number;

  constructor(base: Clock, factor: number) {
    super();
    this.#base = base;
    this.#factor = factor;
  }

  now(): number {
    return this.#base.now();
  }

  monotonicMs(): number {
    return this.#base.monotonicMs() * this.#factor;
  }

  after(delayMs: number, act: () => void, background?: boolean): Timer {
    return this.#base.after(delayMs, act, background);
  }

  override sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return this.#base.sleep(delayMs / this.#factor, signal);
  }
}
