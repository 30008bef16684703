/** The progress of a fleet through its deployment: counts that add up to the fleet. */

import type { Target } from '../client/management.ts';
import type { Device, DeviceDeployment } from '../device/device.ts';
import { isFinal } from '../device/update-states.ts';
import { deviceStates, type Outcome } from '../result/device-states.ts';
import type { Funnel } from '../result/result-devices.ts';
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
  if (deployment) return isFinal(deployment.state) ? deployment.state : 'updating';
  return device.life === 'unstarted' ? 'no-contact' : device.life;
}

const fieldOf = Object.fromEntries(
  deviceStates.map(({ outcome, field }) => [outcome, field]),
) as Readonly<Record<Outcome, (typeof deviceStates)[number]['field']>>;

/** Returns the counts over all devices. A status that was reported again counts once. */
export function funnelOf(devices: readonly Device[], target: Target | undefined): Funnel {
  // Counted in place: a large fleet is looked at once a second, beside all of its requests.
  const counts = {
    ...{ devices: devices.length, offered: 0, downloading: 0, installing: 0, rebooting: 0 },
    ...{ success: 0, failure: 0, aborted: 0, alreadyInstalled: 0 },
    ...{ updating: 0, idle: 0, pending: 0, off: 0, noContact: 0 },
  };
  for (const device of devices) {
    const deployment = countedDeployment(device, target);
    const outcome = outcomeBy(device, deployment);
    counts[fieldOf[outcome]]++;
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
    pending: funnel.pending,
    idle: funnel.idle,
    updating: funnel.updating,
    done: funnel.success + funnel.alreadyInstalled,
    failed: funnel.failure + funnel.aborted,
    off: funnel.off,
    noContact: funnel.noContact,
  };
}
