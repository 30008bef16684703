/** Spreads the requests that have arrived over rounds of the event loop, in turns of their callers. */
import { type Clock, inNextRound } from '../../fixtures/clock.ts';

/** Time in one round after which no further request starts. */
const ROUND_MS = 10;
/** Of those that wait, in one round: each in a callback of its own, so that its time is known. */
const STARTS_MAX = 16;

interface Waiting {
  readonly share: number;
  readonly start: () => void;
}

/** The turns of one server. */
export class Turns {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By caller; the first one is the next, and goes to the end of the row with its other requests. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** When the first request of this round started. */
  #beganMs: number | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /**
   * Returns when a request may start: immediately (undefined) while there is time in this round, or
   * once those before it have; a caller with many requests has one turn while others have one each.
   * @param share of a round that it is likely to take; from 1 on it is the first one of a round
   */
  next(caller: string, share: number): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#fits(share)) return undefined;
    return new Promise((start) => {
      if (this.#waiting.size === 0) this.#startInNextRound(1);
      const own = this.#waiting.get(caller);
      if (own) own.push({ share, start });
      else this.#waiting.set(caller, [{ share, start }]);
    });
  }

  #fits(share: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (this.#beganMs !== undefined) return nowMs - this.#beganMs <= ROUND_MS * (1 - share);
    this.#beganMs = nowMs;
    inNextRound(() => {
      this.#beganMs = undefined;
    });
    return true;
  }

  #startInNextRound(count: number): void {
    for (let starts = count; starts > 0; starts -= 1) inNextRound(() => this.#startOne());
    inNextRound(() => {
      if (this.#waiting.size > 0) this.#startInNextRound(STARTS_MAX);
    });
  }

  #startOne(): void {
    for (const [caller, own] of this.#waiting) {
      const [first] = own;
      if (!first || !this.#fits(first.share)) return;
      own.shift();
      this.#waiting.delete(caller);
      if (own.length > 0) this.#waiting.set(caller, own);
      first.start();
      return;
    }
  }
}
