/**
 * The messages of one WebSocket in one direction through a device's network: each is delayed by
 * latency and bandwidth, and none overtakes another. A socket never loses a single message: where
 * the network loses one, the connection breaks. Pings are not shaped.
 */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import type { Random } from '../../fixtures/random.ts';
import type { LinkShape } from '../plan/policy.ts';

/** Options of a frame link. */
export interface FrameLinkOptions {
  readonly shape: LinkShape;
  readonly clock: Clock;
  /** Exclusive to this direction of this socket. */
  readonly random: Random;
  /** Called when the network loses a message, or when more are in flight than it holds. */
  readonly broken: () => void;
}

/** Messages in flight in one direction. */
const UNDERWAY_MAX = 1000;

/** One direction of one socket; `close` it with the socket. */
export class FrameLink {
  readonly #options: FrameLinkOptions;
  readonly #timers = new Set<Timer>();
  /** When the line is free again, and when the last message arrives. */
  #freeAtMs = 0;
  #lastArrivalMs = 0;
  #isClosed = false;

  constructor(options: FrameLinkOptions) {
    this.#options = options;
  }

  /** Delivers a message of this size when it is due. */
  carry(bytes: number, arrive: () => void): void {
    if (this.#isClosed) return;
    const { shape, clock, random, broken } = this.#options;
    const isLost = random.fraction() < shape.lossShare;
    if (isLost || this.#timers.size >= UNDERWAY_MAX) {
      broken();
      return;
    }
    const timer = clock.after(this.#waitMs(bytes), () => {
      this.#timers.delete(timer);
      arrive();
    });
    this.#timers.add(timer);
  }

  /** Discards the messages in flight. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #waitMs(bytes: number): number {
    const { shape, clock, random } = this.#options;
    const { latencyMs, jitterMs, bytesPerSecond } = shape;
    const nowMs = clock.monotonicMs();
    const transferMs = bytesPerSecond === 0 ? 0 : (bytes * 1000) / bytesPerSecond;
    this.#freeAtMs = Math.max(nowMs, this.#freeAtMs) + transferMs;
    const oneWayMs = Math.max(0, latencyMs + jitterMs * (2 * random.fraction() - 1));
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, this.#freeAtMs + oneWayMs);
    return this.#lastArrivalMs - nowMs;
  }
}
