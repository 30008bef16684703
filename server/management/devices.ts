/** Devices and their authentication sets, for users. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { audit, deviceObject, userActor } from '../audit.ts';
import { readPublicKey } from '../crypto/public-key.ts';
import { type CallingUser, defineEndpoint, type RequestContext } from '../http/endpoint.ts';
import { linkHeader } from '../http/paging.ts';
import { refuse } from '../http/refusal.ts';
import { authSetChanges } from '../rules/auth-set-status.ts';
import { identityOf } from '../rules/identity.ts';
import type { StoredDevice } from '../store/devices.ts';
import { deviceView } from './views.ts';

type UserContext = RequestContext & { readonly user: CallingUser };

const noSuchDevice = refuse.notFound('there is no device of this id');

export const listDevices = defineEndpoint('list-devices', ({ query }, { store, request }) => {
  const page = { page: query.page, perPage: query.per_page };
  // One more than asked for tells whether there is a next page.
  const beyond = store.devices.list(query, { page: query.page * query.per_page + 1, perPage: 1 });
  const total = query.page * query.per_page + beyond.length;
  return {
    status: 200,
    headers: linkHeader({ url: request.url ?? '', total, ...page }),
    body: store.devices
      .list(query, page)
      .map((device) => deviceView(device, store.devices.authSets(device.id))),
  };
});

export const getDevice = defineEndpoint('get-device', ({ parameters }, { store }) => {
  const device = store.devices.find(parameters.id);
  if (!device) return noSuchDevice;
  return { status: 200, body: deviceView(device, store.devices.authSets(device.id)) };
});

export const countDevices = defineEndpoint('count-devices', ({ query }, { store }) => {
  return { status: 200, body: { count: store.devices.count(query.status) } };
});

export const preauthorizeDevice = defineEndpoint('preauthorize-device', ({ body }, context) => {
  const identity = identityOf(body.identity_data);
  if ('because' in identity) return refuse.malformed(`body: identity_data: ${identity.because}`);
  const key = readPublicKey(body.pubkey);
  if ('because' in key) return refuse.malformed(`body: pubkey: ${key.because}`);
  const { devices } = context.store;
  const known = devices.findByIdentity(identity.canonical);
  if (known && !body.force) {
    const because = 'the identity is known; send force: true to preauthorize the key all the same';
    return refuse.conflict(because, deviceView(known, devices.authSets(known.id)));
  }
  const device = { id: known?.id ?? context.random.uuid(), identity: identity.canonical };
  recordPreauthorized(context, { device, known, publicKeyPem: key.pem });
  audit(context, {
    actor: userActor(context.user),
    action: 'create',
    object: deviceObject(device),
    change: 'preauthorized',
  });
  const location = pathOf(managementOperations['get-device'], { id: device.id });
  return { status: 201, headers: { Location: location } };
});

function recordPreauthorized(
  { store: { devices }, random, nowMs }: UserContext,
  wanted: {
    device: { id: string; identity: string };
    known: StoredDevice | undefined;
    publicKeyPem: string;
  },
): void {
  const { device, known, publicKeyPem } = wanted;
  const set = known && devices.findAuthSet(known.id, publicKeyPem);
  const fresh = {
    authSetId: random.uuid(),
    publicKeyPem,
    status: 'preauthorized',
    nowMs,
  } as const;
  if (set) devices.setAuthSetStatus(set, 'preauthorized', nowMs);
  else if (known) devices.recordAuthSet(known.id, fresh);
  else devices.recordFirstContact(device, fresh);
}

export const setAuthSetStatus = defineEndpoint(
  'set-auth-set-status',
  ({ parameters, body }, context) => {
    const { devices } = context.store;
    const device = devices.find(parameters.id);
    if (!device) return noSuchDevice;
    const set = devices.authSets(device.id).find(({ id }) => id === parameters.aid);
    if (!set) return refuse.notFound('this device has no authentication set of this id');
    const change = authSetChanges[set.status][body.status];
    if (change === 'nothing') return { status: 204 };
    if (change === 'refuse') {
      return refuse.malformed(`body: status: a ${set.status} set cannot become ${body.status}`);
    }
    devices.setAuthSetStatus(set, body.status, context.nowMs);
    audit(context, {
      actor: userActor(context.user),
      action: body.status === 'rejected' ? 'reject' : 'update',
      object: deviceObject(device),
      change: `status: ${set.status} -> ${body.status}`,
    });
    return { status: 204 };
  },
);

export const decommissionDevice = defineEndpoint(
  'decommission-device',
  ({ parameters }, context) => {
    const device = context.store.devices.find(parameters.id);
    if (!device) return noSuchDevice;
    forget(context, device.id);
    audit(context, {
      actor: userActor(context.user),
      action: 'decommission',
      object: deviceObject(device),
    });
    return { status: 204 };
  },
);

function forget({ store, sockets, nowMs }: UserContext, deviceId: string): void {
  store.devices.remove(deviceId);
  store.parts.endAllOf(deviceId, 'decommissioned', nowMs);
  store.parts.expectNothing(deviceId);
  store.inventory.remove(deviceId);
  store.configurations.remove(deviceId);
  store.monitor.remove(deviceId);
  sockets.drop(deviceId);
  store.connections.remove(deviceId);
}
