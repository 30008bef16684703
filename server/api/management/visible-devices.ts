/**
 * Decides which devices a user may access: all of the tenant, or those in the groups of the user's
 * roles.
 */
import { pathDetail, type Refusal, refuse, roleDetail } from '../../http/refusal.ts';
import type { UserContext } from '../../pipeline/endpoint.ts';
import type { StoredDevice } from '../../store/devices.ts';

const noSuchDevice = refuse.notFound(
  'no device has this ID',
  pathDetail('device_id', 'the ID of a device of this tenant'),
);
const otherGroup = refuse.forbidden(
  "the device is not in the groups of the user's roles",
  roleDetail('a device in one of these groups'),
);

/**
 * Returns the device with this ID; 404 if it does not exist, 403 if it is not in the user's groups.
 */
export function visibleDevice(
  { store, user }: Pick<UserContext, 'store' | 'user'>,
  id: string,
): StoredDevice | Refusal {
  const device = store.devices.find(id);
  if (!device) return noSuchDevice;
  if (!user.groups) return device;
  const group = store.groups.groupOf(id);
  return group !== undefined && user.groups.includes(group) ? device : otherGroup;
}
