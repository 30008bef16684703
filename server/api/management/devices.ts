/** Lists, reads, counts, limits and decommissions devices in the management API. */
import type { Device as DeviceView } from '../../../fixtures/contract/management/devices.ts';
import { JsonList } from '../../http/json-list.ts';
import { pathDetail, Refusal, refuse } from '../../http/refusal.ts';
import {
  defineEndpoint,
  defineEndpointWithOwnTransactions,
  type UserContext,
} from '../../pipeline/endpoint.ts';
import type { DeviceFilter } from '../../store/device-filter.ts';
import type { Page } from '../../store/engine/page.ts';
import type { Store } from '../../store/store.ts';
import { audit, deviceObject, userActor } from '../../tenants/audit.ts';
import { deviceLimit } from '../../tenants/device-limit.ts';
import { linkHeader } from '../paging.ts';
import { deviceView } from './views.ts';
import { visibleDevice } from './visible-devices.ts';

export const listDevices = defineEndpoint('list-devices', ({ query }, context) => {
  const { status, id, page, per_page: perPage } = query;
  return devicePage(context, { status, id }, { page, perPage });
});

export const searchDevices = defineEndpointWithOwnTransactions(
  'search-devices',
  ({ query, body }, context) =>
    devicePage(context, body, { page: query.page, perPage: query.per_page }),
);

/**
 * Returns a page of devices with a `Link` header but without a total, as the reference
 * implementation does.
 */
async function devicePage(context: UserContext, wanted: DeviceFilter, page: Page) {
  const { store, user, request } = context;
  const filter = { ...wanted, groups: user.groups };
  // Reads one device beyond the page to find out whether there is a next page.
  const beyond = store.devices.list(filter, { page: page.page * page.perPage + 1, perPage: 1 });
  const total = page.page * page.perPage + beyond.length;
  return {
    status: 200,
    headers: linkHeader({ url: request.url ?? '', total, ...page }),
    body: await JsonList.ofEach(
      store.devices.listIds(filter, page),
      (id) => viewOf(store, id),
      context,
    ),
  } as const;
}

function viewOf({ devices }: Store, id: string): DeviceView | undefined {
  const device = devices.find(id);
  return device && deviceView(device, devices.listAuthSets(id));
}

export const getDevice = defineEndpoint('get-device', ({ parameters }, context) => {
  const device = visibleDevice(context, parameters.id);
  if (device instanceof Refusal) return device;
  return { status: 200, body: deviceView(device, context.store.devices.listAuthSets(device.id)) };
});

export const countDevices = defineEndpoint('count-devices', ({ query }, { store, user }) => {
  const count = store.devices.count({ status: query.status, groups: user.groups });
  return { status: 200, body: { count } };
});

export const decommissionDevice = defineEndpoint(
  'decommission-device',
  ({ parameters }, context) => {
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    removeDevice(context, device.id);
    audit(context, {
      actor: userActor(context.user),
      action: 'decommission',
      object: deviceObject(device),
    });
    return { status: 204 };
  },
);

/** Removes a device and all its data. Its deployments are stopped with the status decommissioned. */
export function removeDevice({ store, sockets, nowMs }: UserContext, deviceId: string): void {
  store.devices.remove(deviceId);
  store.deviceDeployments.stopAllOfDevice(deviceId, 'decommissioned', nowMs);
  store.groups.clear(deviceId);
  store.inventory.remove(deviceId);
  store.tags.remove(deviceId);
  store.configurations.remove(deviceId);
  store.monitor.remove(deviceId);
  sockets.drop(deviceId);
  store.connections.remove(deviceId);
}

/** The only limit with a name in the reference implementation. */
const limitName = 'max_devices';

export const getDeviceLimit = defineEndpoint('get-device-limit', (_input, context) => {
  return { status: 200, body: { limit: deviceLimit(context) } };
});

export const getLimitByName = defineEndpoint('get-limit-by-name', ({ parameters }, context) => {
  if (parameters.name !== limitName) {
    return refuse.malformed(
      `no limit has this name; the only one is ${limitName}`,
      pathDetail('name', limitName),
    );
  }
  return { status: 200, body: { limit: deviceLimit(context) } };
});
