/**
 * Decides which devices are on. Stages switch devices on and off cleanly, a power cut switches them
 * off at once, and the network can be cut. A device that is switched off cleanly first completes
 * its cycle, including its update.
 */
import type { SimulatedDevice } from '../device/device.ts';
import { PowerLoss, TransportError } from '../network/errors.ts';
import type { ExchangeSubject } from '../network/transport.ts';
import type { DeviceCountSchedule } from './device-count-schedule.ts';
import type { Scheduler } from './scheduler.ts';

export interface PowerScheduleOptions {
  /** The stages; undefined when every device is on from its first contact. */
  readonly deviceCounts: DeviceCountSchedule | undefined;
  readonly scheduler: Scheduler;
  /** Returns the milliseconds since the start of the run. */
  readonly elapsedMs: () => number;
  /** Maximum number of polls of each device; undefined for no limit. */
  readonly iterations: number | undefined;
  /** Called when a device has made its last poll. */
  readonly onSpent: (device: SimulatedDevice) => void;
}

/** Tolerance of timers in milliseconds: a time that is closer than this counts as reached. */
const SLACK_MS = 1;

/** Tracks which devices are on. */
export class PowerSchedule {
  readonly #options: PowerScheduleOptions;
  /** End of each device's power cut, in milliseconds since the start of the run. */
  readonly #cutUntilMs = new Map<SimulatedDevice, number>();
  #cutOff: ReadonlySet<SimulatedDevice> = new Set();

  constructor(options: PowerScheduleOptions) {
    this.#options = options;
  }

  /** Returns the milliseconds until the device is first switched on; Infinity when it never is. */
  firstOnAfterMs(device: SimulatedDevice, rampMs: number): number {
    const { deviceCounts } = this.#options;
    if (deviceCounts === undefined) return rampMs;
    const { isOn, untilMs } = deviceCounts.presenceOf(device.index, 0);
    return isOn ? 0 : untilMs;
  }

  /** Returns how long the device is off, from now; 0 when it is on, Infinity when it stays off. */
  offForMs(device: SimulatedDevice): number {
    const nowMs = this.#options.elapsedMs();
    const presence = this.#options.deviceCounts?.presenceOf(device.index, nowMs + SLACK_MS);
    const absentMs = presence === undefined || presence.isOn ? 0 : presence.untilMs - nowMs;
    return Math.max(this.#cutForMs(device), absentMs);
  }

  /** Returns true while the device's network is down. */
  isCutOff(device: SimulatedDevice): boolean {
    return this.#cutOff.has(device);
  }

  /**
   * Returns the error with which a request of the device fails before it is sent; undefined when it
   * can be sent.
   */
  obstacleTo(device: SimulatedDevice, { operation, caller }: ExchangeSubject): Error | undefined {
    const cutMs = this.#cutForMs(device);
    if (cutMs > 0) return new PowerLoss(cutMs);
    if (!this.isCutOff(device)) return undefined;
    return new TransportError('OUTAGE', { operation, caller, elapsedMs: 0 });
  }

  /**
   * Waits for a device, between two cycles or within one.
   * @throws FleetStopped, PowerLoss
   */
  sleep(device: SimulatedDevice, waitMs: number, isBetweenRounds: boolean): Promise<void> {
    const { scheduler } = this.#options;
    const isUpdating = device.life === 'updating';
    // A device that is off during an update is rebooting, so its wait belongs to the update.
    if (device.off) return scheduler.restUninterruptibly(waitMs, isUpdating);
    if (device.session === undefined) return scheduler.sleep(waitMs);
    if (isBetweenRounds) return this.#pause(device, waitMs);
    const cutMs = this.#cutForMs(device);
    if (cutMs > 0) return Promise.reject(new PowerLoss(cutMs));
    return scheduler.restInterruptibly(waitMs, device, isUpdating);
  }

  /** Cuts the device's power for this many milliseconds. */
  cut(device: SimulatedDevice, lastingMs: number): void {
    const { scheduler, elapsedMs } = this.#options;
    this.#cutUntilMs.set(device, elapsedMs() + lastingMs);
    scheduler.interrupt(device, new PowerLoss(lastingMs));
    if (!device.off) scheduler.wake(device);
  }

  /** Cuts the network of these devices and restores it for all others. */
  cutOff(devices: readonly SimulatedDevice[]): void {
    this.#cutOff = new Set(devices);
  }

  /** Waits until the next cycle is due, or until the device is to be switched off. */
  #pause(device: SimulatedDevice, waitMs: number): Promise<void> {
    const { scheduler, deviceCounts, elapsedMs } = this.#options;
    if (this.isSpent(device)) return this.#switchOff(device);
    const nowMs = elapsedMs();
    const presence = deviceCounts?.presenceOf(device.index, nowMs + SLACK_MS);
    const onMs = presence?.isOn ? presence.untilMs - nowMs : waitMs;
    return scheduler.sleep(Math.min(waitMs, onMs), device);
  }

  /** Switches off a device that has made its last poll, until the end of the run. */
  #switchOff(device: SimulatedDevice): Promise<void> {
    if (device.session) device.session.dueMs = undefined;
    this.#options.onSpent(device);
    return this.#options.scheduler.sleep(Number.POSITIVE_INFINITY);
  }

  #cutForMs(device: SimulatedDevice): number {
    const nowMs = this.#options.elapsedMs();
    const cutMs = (this.#cutUntilMs.get(device) ?? nowMs) - nowMs;
    return cutMs < SLACK_MS ? 0 : cutMs;
  }

  /** Returns true for a device that has made its last poll. */
  isSpent({ polls }: SimulatedDevice): boolean {
    const { iterations } = this.#options;
    return iterations !== undefined && polls >= iterations;
  }
}
