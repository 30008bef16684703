/**
 * What a shard takes over from a worker that was lost: the outcomes that the server has recorded.
 * A device that has ended its deployment is not offered it again; whoever plays it next has to
 * know.
 */
import type { DeploymentDevice } from '../../fixtures/contract/management/deployments.ts';
import type { Target } from '../client/management.ts';
import { beginPart, type Device } from '../device/device.ts';

/**
 * Gives every device that has ended the deployment, and knows nothing of it, its recorded outcome.
 * @returns the devices that were given one
 */
export function adoptOutcomes(
  devices: readonly Device[],
  recorded: readonly DeploymentDevice[],
  target: Target,
): readonly Device[] {
  const statuses = new Map(recorded.map(({ id, status }) => [id, status]));
  return devices.filter((device) => {
    const status = device.id === undefined ? undefined : statuses.get(device.id);
    return status !== undefined && adopt(device, status, target);
  });
}

function adopt(device: Device, status: DeploymentDevice['status'], target: Target): boolean {
  if (device.parts.some(({ deploymentId }) => deploymentId === target.deploymentId)) return false;
  const isReported = status === 'success' || status === 'failure';
  if (!isReported && status !== 'aborted' && status !== 'already-installed') return false;
  const part = beginPart(device, target.deploymentId, target.artifactName);
  part.state = status;
  if (isReported) part.reported.push(status);
  if (status === 'success') {
    device.provides = { ...device.provides, artifact_name: target.artifactName };
  }
  return true;
}
