/**
 * Devices whose records exist. Under asynchronous-provisioning the records are created some time
 * after acceptance.
 */
import { Refusal, refuse } from '../../http/refusal.ts';
import type { UserContext } from '../../pipeline/endpoint.ts';
import { isProvisioned, notProvisioned, provisionedSinceMs } from '../../rules/provisioning.ts';
import type { DeviceFilter } from '../../store/device-filter.ts';
import type { StoredDevice } from '../../store/devices.ts';
import { visibleDevice } from './visible-devices.ts';

type ProvisioningContext = Pick<UserContext, 'store' | 'user' | 'settings' | 'nowMs'>;

/**
 * Returns the device with this ID; 403 if the user may not access it, 404 if it or its records do
 * not exist.
 */
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

/** Returns a filter that selects only devices with records. */
export function provisionedOnly({ user, settings, nowMs }: ProvisioningContext): DeviceFilter {
  return { groups: user.groups, acceptedByMs: provisionedSinceMs(settings, nowMs) };
}
