/** Spreads the requests that have arrived over rounds of the event loop, in turns of their callers. */
import type { IncomingMessage } from 'node:http';
import { CallerQueue } from '../../fixtures/caller-queue.ts';
import { type Clock, inNextRound } from '../../fixtures/clock.ts';

/** Time in one round after which no further request starts. */
const ROUND_MS = 10;
/** Time in one round after which no further request is read: each takes its time before it waits. */
const READ_MS = 20;
/** Maximum number of waiting requests that start in one round, each in its own callback. */
const STARTS_MAX = 16;

/** Stops reading from connections; returns a function that resumes. */
export type StopReading = () => () => void;

interface Waiting {
  readonly share: number;
  readonly start: () => void;
}

/**
 * Returns who calls, as the request names it: whether that is true is known later. All who name
 * nobody are one caller.
 */
export function callerNamedIn({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return headers.authorization ?? headers.cookie ?? '';
}

/** The turns of one server. */
export class Turns {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #waiting = new CallerQueue<Waiting>();
  /** When the first request of this round started. */
  #beganMs: number | undefined;
  /** When the first request that has to wait was read in this round. */
  #readMs: number | undefined;
  readonly #readers = new Set<StopReading>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /**
   * Returns when a request may start: immediately (undefined) while there is time in this round, or
   * once those before it have; a caller with many requests has one turn while others have one each.
   * @param share of a round that it is likely to take; from 1 on it is the first one of a round
   */
  next(caller: string, share: number): Promise<void> | undefined {
    if (this.#waiting.isEmpty && this.#fits(share)) return undefined;
    return new Promise((start) => {
      this.#boundReading();
      if (this.#waiting.isEmpty) this.#startInNextRound(1);
      this.#waiting.push(caller, { share, start });
    });
  }

  /**
   * Calls `stop` where so much was read in this round that the rest has to wait for the next one,
   * until the returned function is called.
   */
  onCrowd(stop: StopReading): () => void {
    this.#readers.add(stop);
    return () => this.#readers.delete(stop);
  }

  #boundReading(): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#readMs === undefined) {
      this.#readMs = nowMs;
      inNextRound(() => {
        this.#readMs = undefined;
      });
    }
    if (nowMs - this.#readMs <= READ_MS) return;
    this.#readMs = Number.POSITIVE_INFINITY;
    for (const stop of this.#readers) inNextRound(stop());
  }

  /** Calls `act` when the caller's request may start: at once, or in the caller's turn. */
  start(caller: string, act: () => void, share = 0): void {
    const due = this.next(caller, share);
    if (due) void due.then(act);
    else act();
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
      if (!this.#waiting.isEmpty) this.#startInNextRound(STARTS_MAX);
    });
  }

  #startOne(): void {
    const first = this.#waiting.peek();
    if (first && this.#fits(first.share)) this.#waiting.shift()?.start();
  }
}
