/**
 * Merges the events of several workers into one order: by time, then by device and sequence number.
 * Each worker sends its events in order and in batches, with the time up to which they are
 * complete. An event is released once every worker is complete up to its time. The wait for a slow
 * worker is limited; its later events are released when they arrive.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import { compareEvents, type FleetEvent } from '../device/events.ts';

/** Minimum delay of an event in milliseconds, enough for a few batches to arrive. */
const WAIT_MIN_MS = 500;
/** Maximum delay of an event in milliseconds, for a worker that has fallen behind. */
const WAIT_MAX_MS = 10_000;
const RELEASE_PERIOD_MS = 100;
/**
 * Maximum number of waiting events, at a few hundred bytes each. When it is reached, the earlier
 * half is released.
 */
const WAITING_MAX = 200_000;
/** Stands for the whole fleet in place of a device index. */
const FLEET = -1;

interface PendingEvent {
  readonly shard: number;
  readonly event: FleetEvent;
}

/** Orders the events of a run. `close` releases the last events. */
export class EventOrder {
  readonly #clock: Clock;
  readonly #onEvent: (event: FleetEvent) => void;
  readonly #timer: Timer;
  readonly #numbers = new Map<number, number>();
  /** The time up to which the events of each running shard are complete. */
  readonly #coveredUntilMs = new Map<number, number>();
  #pendingEvents: PendingEvent[] = [];

  constructor(clock: Clock, onEvent: (event: FleetEvent) => void) {
    this.#clock = clock;
    this.#onEvent = onEvent;
    this.#timer = clock.every(RELEASE_PERIOD_MS, () => {
      const untilMs = this.#untilMs();
      this.#release(({ event }) => event.atMs < untilMs);
    });
  }

  /** Records that the shard's worker has ended or is lost, so that events no longer wait for it. */
  recordEnd(shard: number): void {
    this.#coveredUntilMs.delete(shard);
  }

  /**
   * Adds events of a shard.
   * @param untilMs time before which all events of the shard have been added, in milliseconds since
   *   the Unix epoch
   */
  add(shard: number, events: readonly FleetEvent[], untilMs: number): void {
    this.#coveredUntilMs.set(shard, untilMs);
    for (const event of events) {
      // Every shard sends the events of the whole fleet, so only those of the first shard are used.
      const isFleets = event.device === undefined && event.kind !== 'exchange';
      if (shard === 0 || !isFleets) this.#pendingEvents.push({ shard, event });
    }
    if (this.#pendingEvents.length < WAITING_MAX) return;
    const half = this.#pendingEvents.length / 2;
    this.#release((_, position) => position < half);
  }

  /** Releases all waiting events and stops the timer. */
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

  #release(mayGo: (waiting: PendingEvent, position: number) => boolean): void {
    const ordered = this.#pendingEvents.sort(comparePending);
    const staying = ordered.findIndex((each, position) => !mayGo(each, position));
    const end = staying === -1 ? ordered.length : staying;
    this.#pendingEvents = ordered.slice(end);
    for (const { event } of ordered.slice(0, end)) this.#onEvent(this.#numbered(event));
  }

  /**
   * Replaces the sequence number of an event: every shard numbers fleet events itself, and a
   * restarted shard starts at 1 again.
   */
  #numbered(event: FleetEvent): FleetEvent {
    const who = event.device ?? FLEET;
    const sequence = (this.#numbers.get(who) ?? 0) + 1;
    this.#numbers.set(who, sequence);
    return { ...event, sequence };
  }
}

function comparePending(one: PendingEvent, other: PendingEvent): number {
  return compareEvents(one.event, other.event) || one.shard - other.shard;
}
