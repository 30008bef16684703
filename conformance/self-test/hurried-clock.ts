/**
 * The clock for the suite's waits in a self-test. A defect suppresses many effects for which a case
 * waits seconds; with a local server a fraction of that is enough. Limits are not changed.
 */
import { BaseClock, type Clock, type Timer } from '../../fixtures/clock.ts';

/** Runs `factor` times as fast for waits on an effect; its wall-clock time is that of `base`. */
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
