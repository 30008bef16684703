/**
 * A faster clock for the suite's waits in a self-test. Cases wait seconds for effects, which many
 * defects suppress. With a local server a fraction of that time is enough. Limits do not change.
 */
import { BaseClock, type Clock, type Timer } from '../../fixtures/base/clock.ts';

/**
 * A clock whose sleeps and monotonic time run `factor` times as fast as those of `base`. Timers and
 * the wall-clock time are those of `base`.
 */
export class FastClock extends BaseClock {
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
