/**
 * Decides when a device's records of inventory, configuration and connection exist: always, or
 * under the dialect asynchronous-provisioning some time after the device was first accepted.
 */
import type { DialectName } from '../../fixtures/contract/dialects.ts';

interface ProvisioningSettings {
  readonly dialects: ReadonlySet<DialectName>;
  readonly provisioningDelayMs: number;
}

/** Detail of a refusal for a device whose records do not exist yet. */
export const notProvisioned = {
  path: 'state',
  expected: 'a provisioned device',
  actual: 'a device that is not provisioned yet (asynchronous-provisioning)',
  remedy: 'wait until the device is provisioned, and send the request again',
};

/** Returns the delay in milliseconds before the effect of a request becomes visible. */
export function provisioningDelayMs(settings: ProvisioningSettings): number {
  const isDelayed = settings.dialects.has('asynchronous-provisioning');
  return isDelayed ? settings.provisioningDelayMs : 0;
}

/** Returns true when a deployment has reached its creation time, and is visible. */
export function hasBegun(
  { createdMs }: { readonly createdMs: number },
  settings: ProvisioningSettings,
  nowMs: number,
): boolean {
  return createdMs <= nowMs || provisioningDelayMs(settings) === 0;
}

/**
 * Returns the latest time of acceptance of devices that have their records; undefined when all have
 * them.
 */
export function provisionedSinceMs(
  settings: ProvisioningSettings,
  nowMs: number,
): number | undefined {
  const isDelayed = settings.dialects.has('asynchronous-provisioning');
  return isDelayed ? nowMs - settings.provisioningDelayMs : undefined;
}

/** Returns true when the device has its records. */
export function isProvisioned(
  { acceptedMs }: { readonly acceptedMs?: number | undefined },
  settings: ProvisioningSettings,
  nowMs: number,
): boolean {
  const sinceMs = provisionedSinceMs(settings, nowMs);
  return sinceMs === undefined || (acceptedMs !== undefined && acceptedMs <= sinceMs);
}
