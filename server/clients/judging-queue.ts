/**
 * Events that wait to be judged. The queue has a limit, each client has its share of it, and
 * judging has a share of the time, so that neither traffic nor a slow judge delays requests.
 */
import { performance } from 'node:perf_hooks';
import { inNextRound, systemClock } from '../../fixtures/clock.ts';

/** Maximum number of events that wait, of all clients and of one. */
const EVENTS_MAX = 4000;
const EVENTS_OF_CLIENT_MAX = 200;
/** Longest time that judging may take before other work gets a turn, in milliseconds. */
const TURN_MS = 2;
/** Share of the time for judging while the server has no idle time. */
const BUSY_SHARE = 0.02;
/** The server is busy if its event loop is idle for less than this share of the time. */
const IDLE_SHARE = 0.3;

/** An event that waits; `judge` must not throw. */
interface Waiting {
  readonly client: string;
  readonly judge: () => void;
}

/** A first-in, first-out queue that judges its events by itself, once it was started. */
export class JudgingQueue {
  #waiting: Waiting[] = [];
  #next = 0;
  readonly #ofClient = new Map<string, number>();
  /** True while a turn is planned, and until the start. */
  #isScheduled = true;
  #isClosed = false;

  /** Number of events that wait. */
  get size(): number {
    return this.#waiting.length - this.#next;
  }

  /** Number of events of a client that wait. */
  sizeOf(client: string): number {
    return this.#ofClient.get(client) ?? 0;
  }

  /** True if a further event of the client has to be dropped. */
  isFull(client: string): boolean {
    return this.size >= EVENTS_MAX || this.sizeOf(client) >= EVENTS_OF_CLIENT_MAX;
  }

  /** Adds an event, which is judged later. Whether there is room for it is asked before. */
  push(client: string, judge: () => void): void {
    if (this.#isClosed) return;
    this.#waiting.push({ client, judge });
    this.#ofClient.set(client, this.sizeOf(client) + 1);
    this.#schedule();
  }

  /** Begins to judge. */
  start(): void {
    this.#isScheduled = false;
    this.#schedule();
  }

  /** Judges everything that waits now, with pauses for other work. */
  async settled(): Promise<void> {
    // An event that ended in this round is complete in the next one.
    await nextRound();
    while (this.size > 0) {
      this.#judgeFor(TURN_MS);
      await nextRound();
    }
  }

  /** Forgets everything that waits. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#next = 0;
    this.#ofClient.clear();
  }

  #schedule(): void {
    if (this.#isScheduled || this.size === 0) return;
    this.#isScheduled = true;
    inNextRound(() => this.#turn());
  }

  #turn(): void {
    const spentMs = this.#judgeFor(TURN_MS);
    if (this.size === 0) {
      this.#isScheduled = false;
      return;
    }
    const before = performance.eventLoopUtilization();
    // A pause that would be right for a busy server; an idle one is noticed in a millisecond.
    const busyPauseMs = spentMs * (1 / BUSY_SHARE - 1);
    systemClock.after(
      1,
      () => {
        const { utilization } = performance.eventLoopUtilization(before);
        if (1 - utilization >= IDLE_SHARE) this.#turn();
        else systemClock.after(busyPauseMs, () => this.#turn(), true);
      },
      true,
    );
  }

  /** Judges until the time is over. @returns the time that it took, in milliseconds */
  #judgeFor(ms: number): number {
    const begunMs = systemClock.monotonicMs();
    let tookMs = 0;
    while (this.size > 0 && tookMs < ms) {
      this.#judgeNext();
      tookMs = systemClock.monotonicMs() - begunMs;
    }
    return tookMs;
  }

  #judgeNext(): void {
    const waiting = this.#waiting[this.#next];
    this.#next += 1;
    if (this.#next === this.#waiting.length || this.#next >= EVENTS_MAX) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    if (waiting === undefined) return;
    const left = this.sizeOf(waiting.client) - 1;
    if (left > 0) this.#ofClient.set(waiting.client, left);
    else this.#ofClient.delete(waiting.client);
    waiting.judge();
  }
}

function nextRound(): Promise<void> {
  return new Promise((resolve) => inNextRound(resolve));
}
