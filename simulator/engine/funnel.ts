/** The progress of a fleet through its deployment: counts that add up to the fleet. */

import type { Target } from '../client/management.ts';
import type { Device, DeviceDeployment } from '../device/device.ts';
import { isFinal } from '../device/update-states.ts';
import type { Funnel, Outcome } from '../result/result-devices.ts';
import type { Accounts } from '../result/result-figures.ts';

/** Returns the device deployment that counts: that of the run's own deployment, else the latest. */
export function countedDeployment(
  device: Device,
  target: Target | undefined,
): DeviceDeployment | undefined {
  if (target === undefined) return device.deployments.at(-1);
  return device.deployments.find((deployment) => deployment.deploymentId === target.deploymentId);
}

/** Returns the outcome of a device so far. */
export function outcomeOf(device: Device, target: Target | undefined): Outcome {
  return outcomeBy(device, countedDeployment(device, target));
}

function outcomeBy(device: Device, deployment: DeviceDeployment | undefined): Outcome {
  if (deployment) return isFinal(deployment.state) ? deployment.state : 'underway';
  if (device.life === 'waiting') return 'waiting';
  return device.life === 'silent' || device.life === 'unstarted' ? 'silent' : 'idle';
}

/** Returns the counts over all devices. A status that was reported again counts once. */
export function funnelOf(devices: readonly Device[], target: Target | undefined): Funnel {
  // Counted in place: a large fleet is looked at once a second, beside all of its requests.
  const counts = {
    ...{ devices: devices.length, offered: 0, downloading: 0, installing: 0, rebooting: 0 },
    ...{ success: 0, failure: 0, aborted: 0, alreadyInstalled: 0 },
    ...{ underway: 0, idle: 0, waiting: 0, silent: 0 },
  };
  for (const device of devices) {
    const deployment = countedDeployment(device, target);
    const outcome = outcomeBy(device, deployment);
    counts[outcome === 'already-installed' ? 'alreadyInstalled' : outcome]++;
    if (deployment === undefined) continue;
    if (wasOffered(deployment)) counts.offered++;
    if (deployment.reported.includes('downloading')) counts.downloading++;
    if (deployment.reported.includes('installing')) counts.installing++;
    if (deployment.reported.includes('rebooting')) counts.rebooting++;
  }
  return counts;
}

/** A device that the server found to have the artifact was offered nothing and reported nothing. */
function wasOffered(deployment: DeviceDeployment): boolean {
  return deployment.state !== 'already-installed' || deployment.reported.length > 0;
}

/** Returns one state per device; the counts add up to the fleet. */
export function accountsOf(funnel: Funnel): Accounts {
  return {
    waiting: funnel.waiting,
    idle: funnel.idle,
    updating: funnel.underway,
    done: funnel.success + funnel.alreadyInstalled,
    failed: funnel.failure + funnel.aborted,
    silent: funnel.silent,
  };
}
