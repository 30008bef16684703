/**
 * The progress of a fleet through its deployment, as counts that add up to the number of devices.
 */
import type { RunDeployment } from '../api-client/management.ts';
import type { DeploymentRecord, SimulatedDevice } from '../device/device.ts';
import { isFinal } from '../device/update-states.ts';
import { type DeviceOutcome, deviceStates } from '../result/device-states.ts';
import type { Funnel } from '../result/result-devices.ts';
import type { DeviceStateCounts } from '../result/result-figures.ts';

/**
 * Returns the device's record of the run's deployment. In a run without a deployment, returns its
 * latest record.
 */
export function findCountedDeployment(
  device: SimulatedDevice,
  runDeployment: RunDeployment | undefined,
): DeploymentRecord | undefined {
  if (runDeployment === undefined) return device.deployments.at(-1);
  return device.deployments.find(
    (deployment) => deployment.deploymentId === runDeployment.deploymentId,
  );
}

/** Returns the current outcome of a device. */
export function outcomeOf(
  device: SimulatedDevice,
  runDeployment: RunDeployment | undefined,
): DeviceOutcome {
  return outcomeBy(device, findCountedDeployment(device, runDeployment));
}

function outcomeBy(
  device: SimulatedDevice,
  deployment: DeploymentRecord | undefined,
): DeviceOutcome {
  if (deployment) return isFinal(deployment.state) ? deployment.state : 'updating';
  return device.life === 'unstarted' ? 'no-contact' : device.life;
}

const fieldOf = Object.fromEntries(
  deviceStates.map(({ outcome, field }) => [outcome, field]),
) as Readonly<Record<DeviceOutcome, (typeof deviceStates)[number]['field']>>;

/** Returns the counts over all devices. A status that a device reported twice counts once. */
export function funnelOf(
  devices: readonly SimulatedDevice[],
  runDeployment: RunDeployment | undefined,
): Funnel {
  // This runs once a second during the load, so it counts in place instead of building lists.
  const counts = {
    devices: devices.length,
    offered: 0,
    downloading: 0,
    installing: 0,
    rebooting: 0,
    success: 0,
    failure: 0,
    aborted: 0,
    alreadyInstalled: 0,
    updating: 0,
    idle: 0,
    pending: 0,
    off: 0,
    noContact: 0,
  };
  for (const device of devices) {
    const deployment = findCountedDeployment(device, runDeployment);
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

/**
 * Returns true when the device received an offer. A device of which the server itself found out
 * that it has the artifact received no offer and reported nothing.
 */
function wasOffered(deployment: DeploymentRecord): boolean {
  return deployment.state !== 'already-installed' || deployment.reported.length > 0;
}

/** Returns the counts of devices by state. They add up to the number of devices. */
export function deviceCountsOf(funnel: Funnel): DeviceStateCounts {
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
