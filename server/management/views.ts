/** Stored things as the management API shows them. */
import type {
  Deployment,
  DeploymentDevice,
} from '../../fixtures/contract/management/deployments.ts';
import type { AuthSet, Device } from '../../fixtures/contract/management/devices.ts';
import { deviceDeploymentStatuses } from '../../fixtures/contract/vocabulary.ts';
import { statusOf } from '../rules/deployment-status.ts';
import type { StoredPart } from '../store/deployment-devices.ts';
import type { StoredDeployment } from '../store/deployments.ts';
import type { StoredAuthSet, StoredDevice } from '../store/devices.ts';

/** ISO 8601 in UTC, with milliseconds. */
export function iso(momentMs: number): string {
  return new Date(momentMs).toISOString();
}

/** The identity as an object. */
export function identityData(device: StoredDevice): Record<string, unknown> {
  return JSON.parse(device.identity) as Record<string, unknown>;
}

export function deviceView(device: StoredDevice, sets: readonly StoredAuthSet[]): Device {
  const identity_data = identityData(device);
  return {
    id: device.id,
    identity_data,
    status: device.status,
    created_ts: iso(device.createdMs),
    updated_ts: iso(device.updatedMs),
    ...(device.checkInMs && { check_in_time: iso(device.checkInMs) }),
    ...(device.externalId !== undefined && { external_id: device.externalId }),
    decommissioning: false,
    auth_sets: sets.map(
      (set): AuthSet => ({
        id: set.id,
        identity_data,
        pubkey: set.publicKeyPem,
        status: set.status,
        ts: iso(set.createdMs),
      }),
    ),
  };
}

/** Every status with the number of devices in it. */
export function statisticsView(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries(
    deviceDeploymentStatuses.map((status) => [status, counts.get(status) ?? 0]),
  );
}

export function deploymentView(
  deployment: StoredDeployment,
  counts: ReadonlyMap<string, number>,
): Deployment {
  return {
    id: deployment.id,
    name: deployment.name,
    artifact_name: deployment.artifactName,
    type: deployment.type,
    status: statusOf(deployment, counts),
    created: iso(deployment.createdMs),
    ...(deployment.finishedMs !== undefined && { finished: iso(deployment.finishedMs) }),
    device_count: deployment.deviceCount,
    force_installation: deployment.forceInstallation,
    statistics: { status: statisticsView(counts) },
  };
}

export function deploymentDeviceView(part: StoredPart): DeploymentDevice {
  return {
    id: part.deviceId,
    status: part.status,
    created: iso(part.offeredMs ?? part.deployment.createdMs),
    ...(part.startedMs !== undefined && { started: iso(part.startedMs) }),
    ...(part.finishedMs !== undefined && { finished: iso(part.finishedMs) }),
    ...(part.substate !== undefined && { substate: part.substate }),
    log: part.hasLog,
  };
}
