/**
 * Steps in the life of a device deployment, in tests of the store: a rule decides, the store
 * records.
 */
import type { DeviceDeploymentStatus } from '../../fixtures/contract/vocabulary.ts';
import {
  applyOffer,
  applyReport,
  applyRetry,
  type DeviceDeployment,
  type Offer,
  type StatusReport,
  withStatus,
} from '../rules/device-deployment.ts';
import type { StoredDeviceDeployment } from '../store/device-deployment-rows.ts';
import type { DeviceDeploymentStore } from '../store/device-deployments.ts';

/** Offers the device deployment to its device. */
export function recordOffer(
  deviceDeployments: DeviceDeploymentStore,
  deviceDeployment: StoredDeviceDeployment,
  offer: Offer,
): StoredDeviceDeployment {
  return recordStep(deviceDeployments, deviceDeployment, {
    changed: applyOffer(deviceDeployment, offer),
    nowMs: offer.nowMs,
  });
}

/** Takes a report of the device. @throws Error when the device deployment refuses it */
export function recordReport(
  deviceDeployments: DeviceDeploymentStore,
  deviceDeployment: StoredDeviceDeployment,
  { nowMs, ...report }: StatusReport & { readonly nowMs: number },
): StoredDeviceDeployment {
  const changed = applyReport(deviceDeployment, report, nowMs);
  if ('reason' in changed) throw new Error(changed.reason);
  return recordStep(deviceDeployments, deviceDeployment, { changed, nowMs });
}

/** Moves the device deployment to a status that the server sets. */
export function recordStatus(
  deviceDeployments: DeviceDeploymentStore,
  deviceDeployment: StoredDeviceDeployment,
  { status, nowMs }: { readonly status: DeviceDeploymentStatus; readonly nowMs: number },
): StoredDeviceDeployment {
  return recordStep(deviceDeployments, deviceDeployment, {
    changed: withStatus(deviceDeployment, status, nowMs),
    nowMs,
  });
}

/** Begins one of the device deployment's retries. */
export function recordRetry(
  deviceDeployments: DeviceDeploymentStore,
  deviceDeployment: StoredDeviceDeployment,
): StoredDeviceDeployment {
  return recordStep(deviceDeployments, deviceDeployment, {
    changed: applyRetry(deviceDeployment),
    nowMs: 0,
  });
}

/** Records the changed device deployment and returns it as stored. */
function recordStep(
  deviceDeployments: DeviceDeploymentStore,
  deviceDeployment: StoredDeviceDeployment,
  { changed, nowMs }: { readonly changed: DeviceDeployment; readonly nowMs: number },
): StoredDeviceDeployment {
  deviceDeployments.save(deviceDeployment, changed, nowMs);
  return (
    deviceDeployments.find(deviceDeployment.deployment.id, deviceDeployment.deviceId) ??
    deviceDeployment
  );
}
