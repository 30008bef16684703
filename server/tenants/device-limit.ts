/** The facts of a tenant for the limits of accepted and of pending devices. */
import type { DeviceStatus } from '../../fixtures/contract/vocabulary.ts';
import { mayAccept, mayWait } from '../rules/device-limit.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store/store.ts';

interface LimitContext {
  readonly store: Pick<Store, 'tenantSettings' | 'devices'>;
  readonly settings: Pick<Settings, 'deviceLimit' | 'pendingDevicesMax'>;
}

/** The tenant's own limit, or else the server's; -1 for none. */
export function deviceLimit({ store, settings }: LimitContext): number {
  return store.tenantSettings.deviceLimit() ?? settings.deviceLimit;
}

/** Whether a key of the device may be accepted; a device that is not known yet has no status. */
export function isWithinDeviceLimit(
  context: LimitContext,
  device?: { status: DeviceStatus },
): boolean {
  return mayAccept({
    limit: deviceLimit(context),
    acceptedCount: context.store.devices.acceptedCount(),
    isAccepted: device?.status === 'accepted',
  });
}

/** Whether one more key may wait to be accepted. */
export function isBelowLimit(
  { store, settings }: LimitContext,
  { identity, publicKeyPem }: { readonly identity: string; readonly publicKeyPem: string },
): boolean {
  const pending = { keysMax: settings.pendingDevicesMax, ...store.devices.waiting };
  return mayWait(pending, Buffer.byteLength(identity) + publicKeyPem.length);
}
