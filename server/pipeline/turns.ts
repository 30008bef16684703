/** Spreads requests that arrive together over iterations of the event loop; callers take turns. */
import type { IncomingMessage } from 'node:http';
import { CallerQueue } from '../../fixtures/base/caller-queue.ts';
import { type Clock, runInNextIteration } from '../../fixtures/base/clock.ts';

/** Time in milliseconds after which an iteration starts no further request. */
const ITERATION_MS = 10;
/**
 * Time in milliseconds after which an iteration reads no further request: parsing one takes time even if
 * it then waits.
 */
const READ_MS = 20;
/** Maximum number of waiting requests that start in one iteration; each starts in its own callback. */
const STARTS_MAX = 16;

/** Stops reading from connections; returns a function that resumes reading. */
export type StopReading = () => () => void;

interface QueuedRequest {
  readonly share: number;
  readonly start: () => void;
}

/**
 * Returns the key by which requests take turns: the credentials as sent, which are not verified here.
 * Requests without credentials count as one caller.
 */
export function turnKeyOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return headers.authorization ?? headers.cookie ?? '';
}

/** Orders the requests of one server. */
export class Turns {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #queue = new CallerQueue<QueuedRequest>();
  /** Monotonic time at which the first request of this iteration started; undefined before it. */
  #startedMs: number | undefined;
  /**
   * Monotonic time at which the first waiting request of this iteration was read; undefined before it.
   */
  #readMs: number | undefined;
  readonly #readers = new Set<StopReading>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /**
   * Returns undefined when a request may start at once, otherwise a promise that resolves when it
   * may. Waiting callers take turns, so one with many requests does not delay the others.
   * @param share the estimated part of an iteration that the request takes; from 1 on it must be the
   * first of its iteration
   */
  next(turnKey: string, share: number): Promise<void> | undefined {
    if (this.#queue.isEmpty && this.#fits(share)) return undefined;
    return new Promise((start) => {
      this.#boundReading();
      if (this.#queue.isEmpty) this.#startInNextIteration(1);
      this.#queue.push(turnKey, { share, start });
    });
  }

  /**
   * Registers `stop`, which is called when an iteration has read so much that the rest must wait;
   * reading resumes in the next iteration. Returns a function that unregisters it.
   */
  onOverload(stop: StopReading): () => void {
    this.#readers.add(stop);
    return () => this.#readers.delete(stop);
  }

  #boundReading(): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#readMs === undefined) {
      this.#readMs = nowMs;
      runInNextIteration(() => {
        this.#readMs = undefined;
      });
    }
    if (nowMs - this.#readMs <= READ_MS) return;
    this.#readMs = Number.POSITIVE_INFINITY;
    for (const stop of this.#readers) runInNextIteration(stop());
  }

  /** Calls `callback` when the request may start: at once, or in its turn. */
  start(turnKey: string, callback: () => void, share = 0): void {
    const due = this.next(turnKey, share);
    if (due) void due.then(callback);
    else callback();
  }

  #fits(share: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (this.#startedMs !== undefined) return nowMs - this.#startedMs <= ITERATION_MS * (1 - share);
    this.#startedMs = nowMs;
    runInNextIteration(() => {
      this.#startedMs = undefined;
    });
    return true;
  }

  #startInNextIteration(count: number): void {
    for (let starts = count; starts > 0; starts -= 1) runInNextIteration(() => this.#startOne());
    runInNextIteration(() => {
      if (!this.#queue.isEmpty) this.#startInNextIteration(STARTS_MAX);
    });
  }

  #startOne(): void {
    const first = this.#queue.peek();
    if (first && this.#fits(first.share)) this.#queue.shift()?.start();
  }
}
