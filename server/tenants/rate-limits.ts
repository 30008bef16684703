/**
 * The rate limit per caller: a number of requests in a window of time, off until it is
 * set. Spec: Rate limits
 */
import type { RateLimit } from '../settings.ts';

interface Window {
  readonly endsMs: number;
  asked: number;
}

/** Callers that are counted at a time; with more, the windows that have ended go first. */
const CALLERS_MAX = 100_000;

/** Counts the requests of each caller by the caller's key. */
export class RateLimits {
  readonly #windows = new Map<string, Window>();
  #limit: RateLimit | undefined;

  constructor(limit?: RateLimit) {
    this.#limit = limit;
  }

  /** Absent while there is no limit. */
  get limit(): RateLimit | undefined {
    return this.#limit;
  }

  /** Begins to count anew under this limit, or stops. */
  set(limit: RateLimit | undefined): void {
    this.#limit = limit;
    this.#windows.clear();
  }

  /** Counts a request; nothing when it may pass, else the whole seconds until one may again. */
  ask(caller: string, nowMs: number): number | undefined {
    if (!this.#limit) return undefined;
    const window = this.#windowOf(caller, nowMs, this.#limit);
    window.asked += 1;
    if (window.asked <= this.#limit.requests) return undefined;
    return Math.max(1, Math.ceil((window.endsMs - nowMs) / 1000));
  }

  #windowOf(caller: string, nowMs: number, { windowSeconds }: RateLimit): Window {
    const known = this.#windows.get(caller);
    const endsMs = nowMs + windowSeconds * 1000;
    // A clock that was set back must not lock a caller out for longer than a window.
    if (known && known.endsMs > nowMs && known.endsMs <= endsMs) return known;
    if (this.#windows.size >= CALLERS_MAX) this.#forgetEnded(nowMs);
    const window = { endsMs, asked: 0 };
    this.#windows.set(caller, window);
    return window;
  }

  #forgetEnded(nowMs: number): void {
    for (const [caller, { endsMs }] of this.#windows) {
      if (endsMs <= nowMs) this.#windows.delete(caller);
    }
    // All of them within one window: the count begins anew, so that memory stays bounded.
    if (this.#windows.size >= CALLERS_MAX) this.#windows.clear();
  }
}
