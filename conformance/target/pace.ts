/**
 * The request rate of a run: a cap over all its requests, and the pauses that the target requests
 * with Retry-After. Both apply to the whole run, however many cases run at a time.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { HttpResponse } from './response.ts';

/** The suite gives up on a request when the target asks for a longer pause. */
const PAUSE_MAX_MS = 60_000;
/** Total of all pauses of a run. */
const PAUSES_MAX_MS = 300_000;
/** Pause before the first retry when a 429 names none; it doubles each time. */
const PAUSE_DEFAULT_MS = 1000;
/** Maximum retries of one request. */
const RETRIES_MAX = 3;

const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

/** The pace of one run. */
export class Pace {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  #nextTurnAtMs = 0;
  #pausedUntilMs = 0;
  #pausesMs = 0;
  #turns: Promise<void> = Promise.resolve();

  constructor(clock: Clock, requestsPerSecondMax?: number) {
    this.#clock = clock;
    this.#intervalMs = requestsPerSecondMax === undefined ? 0 : 1000 / requestsPerSecondMax;
  }

  /** Resolves when the next request may be sent, or immediately when `signal` aborts. */
  turn(signal?: AbortSignal): Promise<void> {
    const isFree = this.#intervalMs === 0 && this.#pausedUntilMs <= this.#clock.monotonicMs();
    if (isFree) return Promise.resolve();
    this.#turns = this.#turns.then(() => this.#wait(signal));
    return this.#turns;
  }

  /**
   * Decides on a response that may ask to slow down: nothing (undefined), give up with a sentence,
   * or pause the whole run and repeat.
   * @param repetition how often the request was repeated already
   */
  handleThrottling(
    response: HttpResponse,
    repetition: number,
  ): 'repeat' | { readonly giveUp: string } | undefined {
    const pauseMs = this.#pauseAskedFor(response, repetition);
    if (pauseMs === undefined) return undefined;
    const demand = `the target answers ${response.status} and asks to wait ${Math.ceil(pauseMs / 1000)} s`;
    if (pauseMs > PAUSE_MAX_MS)
      return { giveUp: `${demand}, which is longer than the suite waits` };
    if (repetition >= RETRIES_MAX) {
      return { giveUp: `${demand}, even after three retries` };
    }
    if (this.#pausesMs + pauseMs > PAUSES_MAX_MS) {
      return { giveUp: `${demand}, and the run has already waited ${PAUSES_MAX_MS / 1000} s` };
    }
    const fromMs = Math.max(this.#clock.monotonicMs(), this.#pausedUntilMs);
    const untilMs = this.#clock.monotonicMs() + pauseMs;
    this.#pausesMs += Math.max(0, untilMs - fromMs);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
    return 'repeat';
  }

  async #wait(signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted) {
      const nowMs = this.#clock.monotonicMs();
      const remainingMs = Math.max(this.#nextTurnAtMs, this.#pausedUntilMs) - nowMs;
      if (remainingMs <= 0) {
        // Counts from the time at which the turn was due, since counting from a late timer would
        // lower the rate on a busy machine.
        const isDueTurn = nowMs - this.#nextTurnAtMs < this.#intervalMs;
        this.#nextTurnAtMs = (isDueTurn ? this.#nextTurnAtMs : nowMs) + this.#intervalMs;
        return;
      }
      await this.#clock.sleep(remainingMs, signal);
    }
  }

  /**
   * Returns the requested pause in milliseconds, from the seconds or the HTTP date in Retry-After.
   * A 429 without that header gets a default pause.
   */
  #pauseAskedFor({ status, headers }: HttpResponse, repetition: number): number | undefined {
    if (status !== TOO_MANY_REQUESTS && status !== UNAVAILABLE) return undefined;
    const retryAfter = headers['retry-after']?.trim() ?? '';
    if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000;
    const untilMs = Date.parse(retryAfter);
    if (!Number.isNaN(untilMs)) return Math.max(0, untilMs - this.#clock.now());
    return status === TOO_MANY_REQUESTS ? PAUSE_DEFAULT_MS * 2 ** repetition : undefined;
  }
}
