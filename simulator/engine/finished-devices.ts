/** Tracks which devices have finished their deployment, and measures how long it took. */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { RunDeployment } from '../api-client/management.ts';
import { type DeploymentRecord, isSettled, type SimulatedDevice } from '../device/device.ts';
import { isFinal } from '../device/update-states.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { findCountedDeployment } from './funnel.ts';

/** The plan, the devices and the callback of the tracking. */
export interface FinishedDevicesOptions {
  readonly plan: Pick<FleetPlan, 'deploy' | 'deploymentId' | 'until'>;
  readonly devices: readonly SimulatedDevice[];
  readonly clock: Clock;
  readonly metrics: RunMetrics;
  readonly runDeployment: () => RunDeployment | undefined;
  /** Called when all devices have finished, in a plan with `until: settled`. */
  readonly onAll: () => void;
}

/** The devices that have finished a deployment. */
export class FinishedDevices {
  readonly #options: FinishedDevicesOptions;
  readonly #finished = new Set<SimulatedDevice>();

  constructor(options: FinishedDevicesOptions) {
    this.#options = options;
  }

  /**
   * Records a device that has finished a deployment and whose final status the server has
   * acknowledged.
   */
  recordSettled(device: SimulatedDevice, deployment: DeploymentRecord): void {
    this.#count(deployment);
    this.#record(device);
  }

  /**
   * Called once the deployment has been created. Devices that finished it in an earlier run count
   * at once.
   */
  recordFinishedEarlier(): void {
    for (const device of this.#options.devices) if (this.#isSettled(device)) this.#record(device);
  }

  #count(deployment: DeploymentRecord): void {
    const { state, offeredMs, deploymentId, finishedMs } = deployment;
    if (!isFinal(state) || finishedMs !== undefined) return;
    const nowMs = this.#options.clock.now();
    deployment.finishedMs = nowMs;
    const { updates } = this.#options.metrics;
    if (offeredMs !== undefined) updates.recordUpdate('offer', state, nowMs - offeredMs);
    const runDeployment = this.#options.runDeployment();
    if (runDeployment?.deploymentId !== deploymentId || runDeployment.createdMs === undefined)
      return;
    updates.recordUpdate('deployment', state, nowMs - runDeployment.createdMs);
  }

  /**
   * Records a device that has finished a deployment. It may have been an older deployment, so once
   * all devices have finished one, each device is checked again.
   */
  #record(device: SimulatedDevice): void {
    const { plan, devices, onAll } = this.#options;
    this.#finished.add(device);
    if (plan.until !== 'settled' || this.#finished.size < devices.length) return;
    for (const each of this.#finished) if (!this.#isSettled(each)) this.#finished.delete(each);
    if (this.#finished.size === devices.length) onAll();
  }

  #isSettled(device: SimulatedDevice): boolean {
    const { deploy, deploymentId } = this.#options.plan;
    const runDeployment = this.#options.runDeployment();
    const isExpected = deploy !== undefined || deploymentId !== undefined;
    if (isExpected && runDeployment === undefined) return false;
    const deployment = findCountedDeployment(device, runDeployment);
    return deployment !== undefined && isSettled(deployment);
  }
}
