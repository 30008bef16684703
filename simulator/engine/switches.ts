/**
 * Who is on: the stages switch devices on and off in order, a power cut does it at once, and a
 * network can be away. A device that is switched off in order ends its round first, its update too.
 */

import type { Device } from '../device/device.ts';
import { PowerLoss, TransportError } from '../network/errors.ts';
import type { ExchangeSubject } from '../network/transport.ts';
import type { Scheduler } from './scheduler.ts';
import type { Timeline } from './timeline.ts';

/** What the switches go by. */
export interface SwitchesOptions {
  /** Absent: every device is on from its first contact on. */
  readonly timeline: Timeline | undefined;
  readonly scheduler: Scheduler;
  /** Since the start of the run. */
  readonly elapsedMs: () => number;
  /** Rounds of each device; absent: any number. */
  readonly iterations: number | undefined;
  /** Called when a device has made all its rounds. */
  readonly onSpent: (device: Device) => void;
}

/** Timers are not exact: what is less than this away has come. */
const SLACK_MS = 1;

/** Knows of every device whether it is on. */
export class Switches {
  readonly #options: SwitchesOptions;
  /** Until when the power of a device is cut, since the start of the run. */
  readonly #cutUntilMs = new Map<Device, number>();
  readonly #rounds = new Map<Device, number>();
  #cutOff: ReadonlySet<Device> = new Set();

  constructor(options: SwitchesOptions) {
    this.#options = options;
  }

  /** How long until the device is switched on for the first time; Infinity: never. */
  firstOnAfterMs(device: Device, rampMs: number): number {
    const { timeline } = this.#options;
    if (timeline === undefined) return rampMs;
    const { isOn, untilMs } = timeline.presenceOf(device.index, 0);
    return isOn ? 0 : untilMs;
  }

  /** How long the device is off from now on; zero when it is on, Infinity: for good. */
  offForMs(device: Device): number {
    const nowMs = this.#options.elapsedMs();
    const presence = this.#options.timeline?.presenceOf(device.index, nowMs + SLACK_MS);
    const absentMs = presence === undefined || presence.isOn ? 0 : presence.untilMs - nowMs;
    return Math.max(this.#cutForMs(device), absentMs);
  }

  /** Whether the device's network is away. */
  isCutOff(device: Device): boolean {
    return this.#cutOff.has(device);
  }

  /** The error with which an exchange of the device fails before it is sent; undefined: it is sent. */
  obstacleTo(device: Device, { operation, caller }: ExchangeSubject): Error | undefined {
    const cutMs = this.#cutForMs(device);
    if (cutMs > 0) return new PowerLoss(cutMs);
    if (!this.isCutOff(device)) return undefined;
    return new TransportError('OUTAGE', { operation, caller, elapsedMs: 0 });
  }

  /** A wait of a device: between two rounds, or amidst one. @throws FleetStopped, PowerLoss */
  rest(device: Device, waitMs: number, isBetweenRounds: boolean): Promise<void> {
    const { scheduler } = this.#options;
    const isUpdating = device.life === 'updating';
    // A reboot belongs to its update.
    if (device.off) return scheduler.restUnheard(waitMs, isUpdating);
    if (device.session === undefined) return scheduler.rest(waitMs);
    if (isBetweenRounds) return this.#pause(device, waitMs);
    const cutMs = this.#cutForMs(device);
    if (cutMs > 0) return Promise.reject(new PowerLoss(cutMs));
    return scheduler.restAmidst(waitMs, device, isUpdating);
  }

  /** Takes the device's power away for so long; it returns by itself. */
  cut(device: Device, lastingMs: number): void {
    const { scheduler, elapsedMs } = this.#options;
    this.#cutUntilMs.set(device, elapsedMs() + lastingMs);
    scheduler.interrupt(device, new PowerLoss(lastingMs));
    if (!device.off) scheduler.wake(device);
  }

  /** Takes the network of these devices away; of none: gives all of it back. */
  cutOff(devices: readonly Device[]): void {
    this.#cutOff = new Set(devices);
  }

  /** Ends when the next round is due, or when the device is to be switched off. */
  #pause(device: Device, waitMs: number): Promise<void> {
    const { scheduler, timeline, elapsedMs } = this.#options;
    this.#countRound(device);
    if (this.#isSpent(device)) return this.#forGood(device);
    const nowMs = elapsedMs();
    const presence = timeline?.presenceOf(device.index, nowMs + SLACK_MS);
    const onMs = presence?.isOn ? presence.untilMs - nowMs : waitMs;
    return scheduler.rest(Math.min(waitMs, onMs), device);
  }

  /** Nothing is due any more. */
  #forGood({ session }: Device): Promise<void> {
    if (session) session.plannedMs = undefined;
    return this.#options.scheduler.rest(Number.POSITIVE_INFINITY);
  }

  #cutForMs(device: Device): number {
    const nowMs = this.#options.elapsedMs();
    const cutMs = (this.#cutUntilMs.get(device) ?? nowMs) - nowMs;
    return cutMs < SLACK_MS ? 0 : cutMs;
  }

  #countRound(device: Device): void {
    const { iterations, onSpent } = this.#options;
    if (iterations === undefined) return;
    const rounds = (this.#rounds.get(device) ?? 0) + 1;
    this.#rounds.set(device, rounds);
    if (rounds === iterations) onSpent(device);
  }

  #isSpent(device: Device): boolean {
    const { iterations } = this.#options;
    return iterations !== undefined && (this.#rounds.get(device) ?? 0) >= iterations;
  }
}
