/** What devices have told of themselves, for users: presence, inventory, alerts. */
import type { InventoryDevice } from '../../fixtures/contract/management/inventory.ts';
import { timestampMs } from '../../fixtures/contract/text.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { refuse } from '../http/refusal.ts';
import type { StoredDevice } from '../store/devices.ts';
import { identityData, iso } from './views.ts';

const noSuchDevice = refuse.notFound('there is no device of this id');

export const getConnection = defineEndpoint('get-connection', ({ parameters }, { store }) => {
  const device = store.devices.find(parameters.id);
  if (!device) return noSuchDevice;
  const known = store.connections.find(device.id);
  return {
    status: 200,
    body: {
      device_id: device.id,
      status: known?.status ?? 'disconnected',
      created_ts: iso(known?.createdMs ?? device.createdMs),
      updated_ts: iso(known?.updatedMs ?? device.createdMs),
    },
  };
});

export const getInventory = defineEndpoint('get-inventory', ({ parameters }, { store }) => {
  const device = store.devices.find(parameters.id);
  if (!device) return noSuchDevice;
  const told = store.inventory.list(device.id);
  const updatedMs = Math.max(device.updatedMs, ...told.map((attribute) => attribute.updatedMs));
  return {
    status: 200,
    body: {
      id: device.id,
      updated_ts: iso(updatedMs),
      attributes: [
        ...told.map(({ name, value, description, updatedMs: toldMs }) => ({
          name,
          scope: 'inventory' as const,
          value,
          ...(description !== undefined && { description }),
          timestamp: iso(toldMs),
        })),
        ...identityAttributes(device),
        ...systemAttributes(device),
      ],
    },
  };
});

type Attributes = InventoryDevice['attributes'];

/** The identity's values; the name `status` is the device's own status, whatever it sent. */
function identityAttributes(device: StoredDevice): Attributes {
  const scope = 'identity' as const;
  return [
    ...Object.entries(identityData(device))
      .filter(([name]) => name !== 'status')
      .map(([name, value]) => ({ name, scope, value })),
    { name: 'status', scope, value: device.status },
  ];
}

function systemAttributes(device: StoredDevice): Attributes {
  const scope = 'system' as const;
  return [
    { name: 'created_ts', scope, value: iso(device.createdMs) },
    { name: 'updated_ts', scope, value: iso(device.updatedMs) },
    ...(device.checkInMs ? [{ name: 'check_in_time', scope, value: iso(device.checkInMs) }] : []),
  ];
}

export const listAlerts = defineEndpoint('list-alerts', ({ parameters, query }, { store }) => {
  if (!store.devices.find(parameters.id)) return noSuchDevice;
  const { issued_after: after, issued_before: before } = query;
  const filter = {
    ...(after !== undefined && { issuedAfterMs: timestampMs(after) }),
    ...(before !== undefined && { issuedBeforeMs: timestampMs(before) }),
  };
  const page = { page: query.page, perPage: query.per_page };
  return { status: 200, body: store.monitor.listAlerts(parameters.id, filter, page) };
});

export const showMonitorConfiguration = defineEndpoint(
  'show-monitor-configuration',
  ({ parameters }, { store }) => {
    if (!store.devices.find(parameters.id)) return noSuchDevice;
    return { status: 200, body: store.monitor.findConfiguration(parameters.id) ?? [] };
  },
);
