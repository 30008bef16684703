/**
 * Puts the events of several workers into the one order of a run: by time, device and number. Each
 * worker tells its own in order, by the batch, and up to when that is all; an event waits until every
 * worker has come so far. A worker that does not is waited for within bounds; what it tells later
 * stands where it came.
 */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import { type FleetEvent, inEventOrder } from '../device/events.ts';

/** How long an event waits for a worker that has told nothing yet: some batches' time. */
const WAIT_LEAST_MS = 500;
/** How long it waits for a worker that has fallen behind. */
const WAIT_MOST_MS = 10_000;
const RELEASE_PERIOD_MS = 100;
/** Some hundred bytes each. When so many wait, the earlier half goes on its way. */
const WAITING_MAX = 200_000;
/** In the place of a device's index, for what concerns the whole fleet. */
const FLEET = -1;

interface Waiting {
  readonly shard: number;
  readonly event: FleetEvent;
}

/** The events of a run; `close` it to have the last ones told. */
export class EventOrder {
  readonly #clock: Clock;
  readonly #onEvent: (event: FleetEvent) => void;
  readonly #timer: Timer;
  readonly #numbers = new Map<number, number>();
  /** By shard that is being played, up to when its events are all here. */
  readonly #toldUntilMs = new Map<number, number>();
  #waiting: Waiting[] = [];

  constructor(clock: Clock, onEvent: (event: FleetEvent) => void) {
    this.#clock = clock;
    this.#onEvent = onEvent;
    this.#timer = clock.every(RELEASE_PERIOD_MS, () => {
      const untilMs = this.#untilMs();
      this.#release(({ event }) => event.atMs < untilMs);
    });
  }

  /** The shard's worker has come to its end, or is lost: nobody waits for it. */
  ended(shard: number): void {
    this.#toldUntilMs.delete(shard);
  }

  /**
   * Takes events of a shard; their times are those of the clock.
   * @param untilMs the shard has told of all its events before
   */
  add(shard: number, events: readonly FleetEvent[], untilMs: number): void {
    this.#toldUntilMs.set(shard, untilMs);
    for (const event of events) {
      // What concerns the whole fleet is said by every shard; the first one's word is enough.
      const isFleets = event.device === undefined && event.kind !== 'exchange';
      if (shard === 0 || !isFleets) this.#waiting.push({ shard, event });
    }
    if (this.#waiting.length < WAITING_MAX) return;
    const half = this.#waiting.length / 2;
    this.#release((_, position) => position < half);
  }

  /** Tells what still waits. */
  close(): void {
    this.#timer.cancel();
    this.#release(() => true);
  }

  #untilMs(): number {
    const nowMs = this.#clock.now();
    const toldMs = [...this.#toldUntilMs.values()].reduce(
      (least, untilMs) => Math.min(least, untilMs),
      nowMs - WAIT_LEAST_MS,
    );
    return Math.max(toldMs, nowMs - WAIT_MOST_MS);
  }

  #release(mayGo: (waiting: Waiting, position: number) => boolean): void {
    const ordered = this.#waiting.sort(inOrder);
    const staying = ordered.findIndex((each, position) => !mayGo(each, position));
    const end = staying === -1 ? ordered.length : staying;
    this.#waiting = ordered.slice(end);
    for (const { event } of ordered.slice(0, end)) this.#onEvent(this.#numbered(event));
  }

  /** Every shard counts what concerns the fleet, and whoever takes one over begins at 1 again. */
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
