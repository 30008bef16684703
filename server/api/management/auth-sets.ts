/** Lets users manage the authentication sets of devices and revoke their tokens. */
import { pathDetail, Refusal, refuse, stateDetail } from '../../http/refusal.ts';
import { defineEndpoint, type UserContext } from '../../pipeline/endpoint.ts';
import { authSetChanges } from '../../rules/auth-set-status.ts';
import type { StoredAuthSet, StoredDevice } from '../../store/devices.ts';
import { audit, deviceObject, userActor } from '../../tenants/audit.ts';
import { isWithinDeviceLimit } from '../../tenants/device-limit.ts';
import { removeDevice } from './devices.ts';
import { visibleDevice } from './visible-devices.ts';

const ofThisDevice = pathDetail('aid', 'an ID from the auth_sets of this device');
const noSuchSet = refuse.notFound(
  'this device has no authentication set with this ID',
  ofThisDevice,
);
const mismatch = refuse.malformed(
  'the authentication set belongs to another device; use an ID from the auth_sets of this device',
  ofThisDevice,
);
const limitReached = refuse.unprocessable(
  'maximum number of accepted devices reached; decommission or reject one, or raise the limit',
  stateDetail(
    'fewer accepted devices than the limit allows',
    'as many accepted devices as the limit allows',
  ),
);

/** An authentication set and the device that it belongs to. */
interface DeviceAuthSet {
  readonly device: StoredDevice;
  readonly set: StoredAuthSet;
}

export const getAuthSetStatus = defineEndpoint('get-auth-set-status', ({ parameters }, context) => {
  const target = targetOf(context, parameters);
  if (target instanceof Refusal) return target;
  return { status: 200, body: { status: target.set.status } };
});

export const setAuthSetStatus = defineEndpoint(
  'set-auth-set-status',
  ({ parameters, body }, context) => {
    const target = targetOf(context, parameters, mismatch);
    if (target instanceof Refusal) return target;
    const { device, set } = target;
    const change = authSetChanges[set.status][body.status];
    if (change === 'nothing') return { status: 204 };
    if (change === 'refuse') {
      const problem = `a ${set.status} set cannot become ${body.status}`;
      const expected = `a status that a ${set.status} set can change to`;
      return refuse.malformedAt('body', { path: 'status', problem }, { expected });
    }
    if (body.status === 'accepted' && !isWithinDeviceLimit(context, device)) return limitReached;
    context.store.devices.setAuthSetStatus(set, body.status, context.nowMs);
    audit(context, {
      actor: userActor(context.user),
      action: body.status === 'rejected' ? 'reject' : 'update',
      ...(body.status === 'accepted' && { wideAction: 'accept' }),
      object: deviceObject(device),
      change: `status: ${set.status} -> ${body.status}`,
    });
    return { status: 204 };
  },
);

export const deleteAuthSet = defineEndpoint('delete-auth-set', ({ parameters }, context) => {
  const target = targetOf(context, parameters);
  if (target instanceof Refusal) return target;
  const { device, set } = target;
  const { devices } = context.store;
  const isOnly = devices.listAuthSets(device.id).length === 1;
  // A preauthorized device that never connected has no other data, so it is deleted with its only
  // key.
  if (isOnly && set.status === 'preauthorized') removeDevice(context, device.id);
  else devices.removeAuthSet(set, context.nowMs);
  audit(context, {
    actor: userActor(context.user),
    action: 'delete',
    object: deviceObject(device),
    change: `${set.status} authentication set ${set.id}`,
  });
  return { status: 204 };
});

export const revokeToken = defineEndpoint('revoke-token', ({ parameters }, context) => {
  const { devices } = context.store;
  const set = devices.findAuthSetById(parameters.jti);
  if (set?.status !== 'accepted') {
    return refuse.notFound(
      'no token has this ID; use the ID of an accepted authentication set',
      pathDetail('id', 'the ID of an accepted authentication set'),
    );
  }
  const device = visibleDevice(context, set.deviceId);
  if (device instanceof Refusal) return device;
  devices.revokeTokens(set, context.nowMs);
  audit(context, {
    actor: userActor(context.user),
    action: 'update',
    object: deviceObject(device),
    change: `revoked the tokens of authentication set ${set.id}`,
  });
  return { status: 204 };
});

/**
 * Returns the authentication set of a device, or a refusal. `foreign` is the refusal if the set
 * belongs to another device.
 */
function targetOf(
  context: UserContext,
  { id, aid }: { readonly id: string; readonly aid: string },
  foreign = noSuchSet,
): DeviceAuthSet | Refusal {
  const device = visibleDevice(context, id);
  if (device instanceof Refusal) return device;
  const set = context.store.devices.findAuthSetById(aid);
  if (!set) return noSuchSet;
  return set.deviceId === device.id ? { device, set } : foreign;
}
