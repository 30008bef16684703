/** Tracks which devices of a run have finished their deployment, and how long that took. */
import type { Clock } from '../../fixtures/clock.ts';
import type { Target } from '../client/management.ts';
import { type Device, type DeviceDeployment, isSettled } from '../device/device.ts';
import { isFinal } from '../device/update-states.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { countedDeployment } from './funnel.ts';

/** What is tracked, and where it is counted. */
export interface SettledDevicesOptions {
  readonly plan: Pick<FleetPlan, 'deploy' | 'deploymentId' | 'until'>;
  readonly devices: readonly Device[];
  readonly clock: Clock;
  readonly metrics: RunMetrics;
  readonly target: () => Target | undefined;
  /** Called when all devices have finished, where the plan ends then. */
  readonly onAll: () => void;
}

/** The devices that have finished a deployment. */
export class SettledDevices {
  readonly #options: SettledDevicesOptions;
  readonly #ended = new Set<Device>();

  constructor(options: SettledDevicesOptions) {
    this.#options = options;
  }

  /** Records a device deployment that has ended and that the server knows to have ended. */
  settled(device: Device, deployment: DeviceDeployment): void {
    this.#count(deployment);
    this.#note(device);
  }

  /**
   * Called once the deployment exists; devices that finished it in an earlier run count
   * immediately.
   */
  deployed(): void {
    for (const device of this.#options.devices) if (this.#isSettled(device)) this.#note(device);
  }

  #count(deployment: DeviceDeployment): void {
    const { state, offeredMs, deploymentId, endedMs } = deployment;
    if (!isFinal(state) || endedMs !== undefined) return;
    const nowMs = this.#options.clock.now();
    deployment.endedMs = nowMs;
    const { updates } = this.#options.metrics;
    if (offeredMs !== undefined) updates.updateEnded('offer', state, nowMs - offeredMs);
    const target = this.#options.target();
    if (target?.deploymentId !== deploymentId || target.createdMs === undefined) return;
    updates.updateEnded('deployment', state, nowMs - target.createdMs);
  }

  /**
   * A device may have finished an older deployment, so the check runs once every device has
   * finished one.
   */
  #note(device: Device): void {
    const { plan, devices, onAll } = this.#options;
    this.#ended.add(device);
    if (plan.until !== 'settled' || this.#ended.size < devices.length) return;
    for (const each of this.#ended) if (!this.#isSettled(each)) this.#ended.delete(each);
    if (this.#ended.size === devices.length) onAll();
  }

  #isSettled(device: Device): boolean {
    const { deploy, deploymentId } = this.#options.plan;
    const target = this.#options.target();
    const isExpected = deploy !== undefined || deploymentId !== undefined;
    if (isExpected && target === undefined) return false;
    const deployment = countedDeployment(device, target);
    return deployment !== undefined && isSettled(deployment);
  }
}
