/**
 * Carries the messages of one WebSocket in one direction through a device's simulated network.
 * Latency and bandwidth delay each message; the order of messages is kept. TCP never loses a single
 * message, so where the network loses one, the whole connection breaks. Pings pass without delay.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { NetworkShape } from '../plan/policy.ts';

/** Options of the network of one direction of a socket. */
export interface FrameNetworkOptions {
  readonly shape: NetworkShape;
  readonly clock: Clock;
  /** Random generator of this direction of this socket, shared with nothing else. */
  readonly random: Random;
  /** Called when the network loses a message, or when more than `IN_FLIGHT_MAX` are in flight. */
  readonly broken: () => void;
}

/** Limit on the messages in flight in one direction. */
const IN_FLIGHT_MAX = 1000;

/** One direction of one socket. The owner must close it together with the socket. */
export class FrameNetwork {
  readonly #options: FrameNetworkOptions;
  readonly #timers = new Set<Timer>();
  /**
   * Monotonic time at which the network is free again; the next field is the last message's arrival.
   */
  #freeAtMs = 0;
  #lastArrivalMs = 0;
  #isClosed = false;

  constructor(options: FrameNetworkOptions) {
    this.#options = options;
  }

  /** Delivers a message of this size after the delay of the network, by calling `arrive`. */
  carry(bytes: number, arrive: () => void): void {
    if (this.#isClosed) return;
    const { shape, clock, random, broken } = this.#options;
    const isLost = random.fraction() < shape.lossShare;
    if (isLost || this.#timers.size >= IN_FLIGHT_MAX) {
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
