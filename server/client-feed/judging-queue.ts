/**
 * Events that wait to be judged. The queue has a limit, each client has its share of it, and
 * judging has a share of the time, so that neither traffic nor a slow judge delays requests.
 */
import { idleShareFromNow, runInNextIteration, systemClock } from '../../fixtures/base/clock.ts';

/** Maximum number of events that wait, of all clients and of one. */
const EVENTS_MAX = 4000;
const EVENTS_OF_CLIENT_MAX = 200;
/** Longest time that judging may take before other work gets a turn, in milliseconds. */
const BUSY_SLICE_MS = 1;
const IDLE_SLICE_MS = 5;
/** Time between two turns, in which the work of the server is measured. */
const PAUSE_MS = 20;
/** The server is idle if its event loop is for this share of the time. */
const IDLE_SHARE = 0.8;
/** Share of the time for judging while the server is not idle. */
const BUSY_SHARE = 0.02;

/** A client with the number of its events that wait. */
export interface WaitingClient {
  waiting: number;
}

/** An event that waits; `judge` must not throw. */
interface WaitingEvent {
  readonly client: WaitingClient;
  readonly judge: () => void;
}

/** A first-in, first-out queue that judges its events by itself, once it was started. */
export class JudgingQueue {
  #waiting: WaitingEvent[] = [];
  #next = 0;
  #judged = 0;
  /** True while a turn is planned, and until the start. */
  #isScheduled = true;
  #isClosed = false;

  /** Number of events that wait. */
  get size(): number {
    return this.#waiting.length - this.#next;
  }

  /** True if a further event of the client has to be dropped. */
  isFull({ waiting }: WaitingClient): boolean {
    return this.size >= EVENTS_MAX || waiting >= EVENTS_OF_CLIENT_MAX;
  }

  /** Adds an event, which is judged later. Whether there is room for it is asked before. */
  push(client: WaitingClient, judge: () => void): void {
    if (this.#isClosed) return;
    this.#waiting.push({ client, judge });
    client.waiting += 1;
    this.#schedule();
  }

  /** Begins to judge the events that wait; until then, they only wait. */
  start(): void {
    this.#isScheduled = false;
    this.#schedule();
  }

  /**
   * Judges what waits now, with pauses for other work.
   * @param limitMs longest time for judging, in milliseconds; the rest goes on waiting
   */
  async judgeWaitingEvents(limitMs = Number.POSITIVE_INFINITY): Promise<void> {
    // An event that ended in this iteration is complete in the next one.
    await nextIteration();
    // Further events may come all the time.
    const untilJudged = this.#judged + this.size;
    let spentMs = 0;
    while (this.size > 0 && this.#judged < untilJudged && spentMs < limitMs) {
      spentMs += this.#judgeFor(IDLE_SLICE_MS);
      await nextIteration();
    }
  }

  /** Drops the events that wait, and accepts no more. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#next = 0;
  }

  #schedule(): void {
    if (this.#isScheduled || this.size === 0) return;
    this.#isScheduled = true;
    runInNextIteration(() => this.#judgeSlice(BUSY_SLICE_MS));
  }

  #judgeSlice(ms: number): void {
    const spentMs = this.#judgeFor(ms);
    if (this.size === 0) {
      this.#isScheduled = false;
      return;
    }
    const idleShare = idleShareFromNow();
    const pause = (pauseMs: number, sliceMs: number) =>
      systemClock.after(pauseMs, () => this.#judgeSlice(sliceMs), true);
    const judgeOrPause = (): void => {
      if (idleShare() >= IDLE_SHARE) this.#judgeSlice(IDLE_SLICE_MS);
      else pause(spentMs / BUSY_SHARE, BUSY_SLICE_MS);
    };
    systemClock.after(PAUSE_MS, judgeOrPause, true);
  }

  /** Judges until the time is over. @returns the time that it took, in milliseconds */
  #judgeFor(ms: number): number {
    const startedMs = systemClock.monotonicMs();
    let tookMs = 0;
    while (this.size > 0 && tookMs < ms) {
      this.#judgeNext();
      tookMs = systemClock.monotonicMs() - startedMs;
    }
    return tookMs;
  }

  #judgeNext(): void {
    const waiting = this.#waiting[this.#next];
    this.#next += 1;
    this.#judged += 1;
    if (this.#next === this.#waiting.length || this.#next >= EVENTS_MAX) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    if (waiting === undefined) return;
    waiting.client.waiting -= 1;
    waiting.judge();
  }
}

function nextIteration(): Promise<void> {
  return new Promise((resolve) => runInNextIteration(resolve));
}
