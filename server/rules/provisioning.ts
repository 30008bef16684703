/**
 * When a device's records of inventory, configuration and connection exist: always, or with
 * the dialect asynchronous-provisioning some time after the device was first accepted.
 */
import type { DialectName } from '../../fixtures/contract/dialects.ts';

interface ProvisioningSettings {
  readonly dialects: ReadonlySet<DialectName>;
  readonly provisioningDelayMs: number;
}

/** What is missing of a device whose records are not there yet. */
export const notProvisioned = {
  path: 'state',
  expected: 'a provisioned device',
  actual: 'a device that is not provisioned yet (asynchronous-provisioning)',
  remedy: 'wait until the device is provisioned, and send the request again',
};

/** The delay, in milliseconds, until the result of a request appears. */
export function provisioningDelayMs(settings: ProvisioningSettings): number {
  const isDelayed = settings.dialects.has('asynchronous-provisioning');
  return isDelayed ? settings.provisioningDelayMs : 0;
}

/** Whether a deployment that was created at that time has begun, and is visible. */
export function hasBegun(
  { createdMs }: { readonly createdMs: number },
  settings: ProvisioningSettings,
  nowMs: number,
): boolean {
  return createdMs <= nowMs || provisioningDelayMs(settings) === 0;
}

/** By when a device must have been accepted to have its records; nothing when all have them. */
export function provisionedSinceMs(
  settings: ProvisioningSettings,
  nowMs: number,
): number | undefined {
  const isDelayed = settings.dialects.has('asynchronous-provisioning');
  return isDelayed ? nowMs - settings.provisioningDelayMs : undefined;
}

/** Whether the device has its records. */
export function isProvisioned(
  { acceptedMs }: { readonly acceptedMs?: number | undefined },
  settings: ProvisioningSettings,
  nowMs: number,
): boolean {
  const sinceMs = provisionedSinceMs(settings, nowMs);
  return sinceMs === undefined || (acceptedMs !== undefined && acceptedMs <= sinceMs);
}
