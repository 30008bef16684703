/**
 * Merges the events of several workers into one order: by time, device and number. Each worker
 * reports its own in order, in batches, together with the time up to which they are complete; an
 * event waits until every worker has reached it. The wait for a slow worker is bounded; its later
 * events are placed where they arrive.
 */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import { type FleetEvent, inEventOrder } from '../device/events.ts';

/** How long an event waits for a worker that has not reported yet: the time of a few batches. */
const WAIT_MIN_MS = 500;
/** How long it waits for a worker that has fallen behind. */
const WAIT_MAX_MS = 10_000;
const RELEASE_PERIOD_MS = 100;
/** A few hundred bytes each. When this many wait, the earlier half is released. */
const WAITING_MAX = 200_000;
/** Replaces the device index for events of the whole fleet. */
const FLEET = -1;

interface Waiting {
  readonly shard: number;
  readonly event: FleetEvent;
}

/** Orders the events of a run; `close` it to emit the last ones. */
export class EventOrder {
  readonly #clock: Clock;
  readonly #onEvent: (event: FleetEvent) => void;
  readonly #timer: Timer;
  readonly #numbers = new Map<number, number>();
  /** By running shard: the time up to which its events have all arrived. */
  readonly #coveredUntilMs = new Map<number, number>();
  #waiting: Waiting[] = [];

  constructor(clock: Clock, onEvent: (event: FleetEvent) => void) {
    this.#clock = clock;
    this.#onEvent = onEvent;
    this.#timer = clock.every(RELEASE_PERIOD_MS, () => {
      const untilMs = this.#untilMs();
      this.#release(({ event }) => event.atMs < untilMs);
    });
  }

  /** Records that the shard's worker has ended or is lost: events no longer wait for it. */
  ended(shard: number): void {
    this.#coveredUntilMs.delete(shard);
  }

  /**
   * Adds events of a shard, timed by the clock.
   * @param untilMs all earlier events of the shard have been reported
   */
  add(shard: number, events: readonly FleetEvent[], untilMs: number): void {
    this.#coveredUntilMs.set(shard, untilMs);
    for (const event of events) {
      // Every shard reports events of the whole fleet; the first report is enough.
      const isFleets = event.device === undefined && event.kind !== 'exchange';
      if (shard === 0 || !isFleets) this.#waiting.push({ shard, event });
    }
    if (this.#waiting.length < WAITING_MAX) return;
    const half = this.#waiting.length / 2;
    this.#release((_, position) => position < half);
  }

  /** Emits the events that still wait. */
  close(): void {
    this.#timer.cancel();
    this.#release(() => true);
  }

  #untilMs(): number {
    const nowMs = this.#clock.now();
    const coveredMs = [...this.#coveredUntilMs.values()].reduce(
      (min, untilMs) => Math.min(min, untilMs),
      nowMs - WAIT_MIN_MS,
    );
    return Math.max(coveredMs, nowMs - WAIT_MAX_MS);
  }

  #release(mayGo: (waiting: Waiting, position: number) => boolean): void {
    const ordered = this.#waiting.sort(inOrder);
    const staying = ordered.findIndex((each, position) => !mayGo(each, position));
    const end = staying === -1 ? ordered.length : staying;
    this.#waiting = ordered.slice(end);
    for (const { event } of ordered.slice(0, end)) this.#onEvent(this.#numbered(event));
  }

  /** Every shard counts fleet events, and a worker that takes over a shard starts at 1 again. */
  #numbered(event: FleetEvent): FleetEvent {
    const who = event.device ?? FLEET;
    const sequence = (this.#numbers.get(who) ?? 0) + 1;
    this.#numbers.set(who, sequence);
    return { ...event, sequence };
  }
}

function inOrder(one: Waiting, other: Waiting): number {
  return inEventOrder(one.event, other.event) || one.shard - other.shard;
}
