/** Devices whose records exist; with asynchronous-provisioning this takes some time. */
import { Refusal, refuse } from '../../http/refusal.ts';
import { isProvisioned, notProvisioned, provisionedSinceMs } from '../../rules/provisioning.ts';
import type { DeviceFilter } from '../../store/device-filter.ts';
import type { StoredDevice } from '../../store/devices.ts';
import { type UserContext, visibleDevice } from './visible-devices.ts';

type ProvisioningContext = Pick<UserContext, 'store' | 'user' | 'settings' | 'nowMs'>;

/** The device of an id, if the user may touch it and its records are there; else 403 or 404. */
export function provisionedDevice(
  context: ProvisioningContext,
  id: string,
): StoredDevice | Refusal {
  const device = visibleDevice(context, id);
  if (device instanceof Refusal) return device;
  if (isProvisioned(device, context.settings, context.nowMs)) return device;
  return refuse.notFound(
    'the device is not provisioned yet; it appears here after it is accepted',
    notProvisioned,
  );
}

/** What narrows a list to such devices. */
export function provisionedOnly({ user, settings, nowMs }: ProvisioningContext): DeviceFilter {
  return { groups: user.groups, acceptedByMs: provisionedSinceMs(settings, nowMs) };
}
