/**
 * Limits each caller to a number of requests in a time window; without a limit until one is set.
 * Spec: Limits
 */
import type { RateLimit } from '../../fixtures/base/option-row.ts';

interface RateWindow {
  readonly endsMs: number;
  requests: number;
}

/** Maximum number of callers that are counted; above it, ended windows are removed. */
const CALLERS_MAX = 100_000;

/** Counts requests by caller. */
export class RateLimits {
  readonly #windows = new Map<string, RateWindow>();
  #limit: RateLimit | undefined;

  constructor(limit?: RateLimit) {
    this.#limit = limit;
  }

  /** The limit; undefined when requests are not limited. */
  get limit(): RateLimit | undefined {
    return this.#limit;
  }

  /** Sets the limit, or removes it, and resets all counts. */
  set(limit: RateLimit | undefined): void {
    this.#limit = limit;
    this.#windows.clear();
  }

  /**
   * Counts a request. Returns undefined when it is permitted, otherwise the whole seconds until the
   * caller's window ends.
   */
  count(caller: string, nowMs: number): number | undefined {
    if (!this.#limit) return undefined;
    const window = this.#windowOf(caller, nowMs, this.#limit);
    window.requests += 1;
    if (window.requests <= this.#limit.requests) return undefined;
    return Math.max(1, Math.ceil((window.endsMs - nowMs) / 1000));
  }

  #windowOf(caller: string, nowMs: number, { windowSeconds }: RateLimit): RateWindow {
    const currentWindow = this.#windows.get(caller);
    const endsMs = nowMs + windowSeconds * 1000;
    // After a clock was set back, a caller must not be refused for longer than one window.
    if (currentWindow && currentWindow.endsMs > nowMs && currentWindow.endsMs <= endsMs)
      return currentWindow;
    if (this.#windows.size >= CALLERS_MAX) this.#forgetEnded(nowMs);
    const window = { endsMs, requests: 0 };
    this.#windows.set(caller, window);
    return window;
  }

  #forgetEnded(nowMs: number): void {
    for (const [caller, { endsMs }] of this.#windows) {
      if (endsMs <= nowMs) this.#windows.delete(caller);
    }
    // If all windows are still open, the counts are reset to bound the memory.
    if (this.#windows.size >= CALLERS_MAX) this.#windows.clear();
  }
}
