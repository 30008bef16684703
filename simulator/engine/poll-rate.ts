/**
 * Polls at a fixed rate, an open model: each falls due at its time, whether or not the server has
 * answered the earlier ones. The devices that wait between two polls take turns, the longest wait
 * first. A poll for which every device is busy is late, and one that is never sent is dropped.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import type { SimulatedDevice } from '../device/device.ts';
import type { FixedRatePolls } from '../result/fixed-rate-polls.ts';

export interface PollRateOptions {
  readonly perSecond: number;
  /** Time of the first poll at the earliest, in monotonic milliseconds. */
  readonly startsMs: number;
  readonly clock: Clock;
  /** Makes the device start its next cycle at once. */
  readonly wake: (device: SimulatedDevice) => void;
}

/** Maximum number of polls that wait for a device; further polls are dropped. */
const LATE_MAX = 10_000;
const SECOND_MS = 1000;
/** Tolerance of timers in milliseconds: a poll that is due in less than this is due. */
const SLACK_MS = 0.001;

/** The polls of one run. They begin once the first device waits for its turn. */
export class PollRate {
  readonly #options: PollRateOptions;
  #startMs: number | undefined;
  #timer: Timer | undefined;
  /** The devices that wait for their turn, the longest wait first. */
  readonly #devices = new Set<SimulatedDevice>();
  /** Due times of the polls for which every device was busy, in monotonic milliseconds. */
  #lateMs: number[] = [];
  #due = 0;
  #late = 0;
  #dropped = 0;

  constructor(options: PollRateOptions) {
    this.#options = options;
  }

  /** The polls so far. Those that still wait for a device count as dropped. */
  get counts(): FixedRatePolls {
    const dropped = this.#dropped + this.#lateMs.length;
    return { due: this.#due, sent: this.#due - dropped, late: this.#late, dropped };
  }

  /**
   * Waits for the device's turn.
   * @param pause begins a wait between two polls, which `wake` or another cause ends
   */
  async waitForTurn(device: SimulatedDevice, pause: () => Promise<void>): Promise<void> {
    // A device that another cause wakes sends no poll of the rate.
    if (device.session) device.session.dueMs = undefined;
    this.#devices.add(device);
    const paused = pause();
    this.#begin();
    const dueMs = this.#lateMs[0];
    if (dueMs !== undefined && this.#give(dueMs)) {
      this.#lateMs.shift();
      this.#late++;
    }
    try {
      await paused;
    } finally {
      this.#devices.delete(device);
    }
  }

  /** Ends the polls; those that still wait for a device are dropped. */
  stop(): void {
    this.#timer?.cancel();
    this.#dropped += this.#lateMs.length;
    this.#lateMs = [];
  }

  #begin(): void {
    if (this.#startMs !== undefined) return;
    this.#startMs = Math.max(this.#options.clock.monotonicMs(), this.#options.startsMs);
    this.#plan(this.#startMs);
  }

  #plan(startMs: number): void {
    const { clock } = this.#options;
    const waitMs = Math.max(0, this.#nextMs(startMs) - clock.monotonicMs());
    this.#timer = clock.after(waitMs, () => {
      const nowMs = clock.monotonicMs() + SLACK_MS;
      for (let dueMs = this.#nextMs(startMs); dueMs <= nowMs; dueMs = this.#nextMs(startMs)) {
        this.#due++;
        this.#fallDue(dueMs);
      }
      this.#plan(startMs);
    });
  }

  #nextMs(startMs: number): number {
    return startMs + (this.#due * SECOND_MS) / this.#options.perSecond;
  }

  #fallDue(dueMs: number): void {
    // Earlier polls that are late come first.
    if (this.#lateMs.length === 0 && this.#give(dueMs)) return;
    if (this.#lateMs.length < LATE_MAX) this.#lateMs.push(dueMs);
    else this.#dropped++;
  }

  /** Makes the device whose turn it is poll. Returns false when all devices are busy. */
  #give(dueMs: number): boolean {
    const [device] = this.#devices;
    if (device === undefined) return false;
    this.#devices.delete(device);
    if (device.session) device.session.dueMs = dueMs;
    this.#options.wake(device);
    return true;
  }
}
