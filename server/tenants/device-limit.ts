/** A tenant's store and the settings that limit its accepted devices and unaccepted keys. */
import type { DeviceStatus } from '../../fixtures/contract/vocabulary.ts';
import { mayAccept, mayRecordKey } from '../rules/device-limit.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store/store.ts';

interface LimitContext {
  readonly store: Pick<Store, 'tenantSettings' | 'devices'>;
  readonly settings: Pick<Settings, 'deviceLimit' | 'unacceptedKeysMax'>;
}

/** Returns the tenant's own limit of accepted devices, or else the server's; -1 for no limit. */
export function deviceLimit({ store, settings }: LimitContext): number {
  return store.tenantSettings.deviceLimit() ?? settings.deviceLimit;
}

/**
 * Returns true when a key of the device may be accepted; `device` is undefined for a new device.
 */
export function isWithinDeviceLimit(
  context: LimitContext,
  device?: { status: DeviceStatus },
): boolean {
  return mayAccept({
    limit: deviceLimit(context),
    acceptedCount: context.store.devices.cache.countAccepted(),
    isAccepted: device?.status === 'accepted',
  });
}

/** Returns true when one more key may be recorded. */
export function isBelowKeyLimit(
  { store, settings }: LimitContext,
  { identity, publicKeyPem }: { readonly identity: string; readonly publicKeyPem: string },
): boolean {
  const pending = { keysMax: settings.unacceptedKeysMax, ...store.devices.unacceptedKeys };
  return mayRecordKey(pending, Buffer.byteLength(identity) + publicKeyPem.length);
}
