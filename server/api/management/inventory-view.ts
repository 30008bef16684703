/**
 * The attributes of devices as users see them. Devices write the scope inventory and users the
 * scope tags; the other three are made from what the server knows anyhow.
 */

import type { InventoryDevice } from '../../../fixtures/contract/management/inventory.ts';
import type { AttributePlace } from '../../../fixtures/contract/management/inventory-search.ts';
import type { AttributeScope } from '../../../fixtures/contract/vocabulary.ts';
import type { KeptAttribute } from '../../rules/inventory.ts';
import type { Column } from '../../rules/inventory-search.ts';
import type { StoredDevice } from '../../store/devices.ts';
import type { Store } from '../../store/store.ts';
import { identityData, iso } from './views.ts';

type Attributes = InventoryDevice['attributes'];

/** One device with its attributes in all scopes. */
export function inventoryView(store: Store, device: StoredDevice): InventoryDevice {
  const told = store.inventory.list(device.id);
  const tags = store.tags.list(device.id);
  const writtenMs = [...told, ...tags].map(({ updatedMs }) => updatedMs);
  return {
    id: device.id,
    updated_ts: iso(Math.max(device.updatedMs, ...writtenMs)),
    attributes: [
      ...writtenAttributes('inventory', told),
      ...writtenAttributes('tags', tags),
      ...identityAttributes(device),
      ...systemAttributes(device, store.groups.groupOf(device.id)),
      ...monitorAttributes(store.monitor.criticalCount(device.id)),
    ],
  };
}

/** Reads columns for one search, of a portion of the devices at a time. */
export function columnReader(store: Store) {
  // Of all devices, as it has a row for those alone that are in a group or sent an alert.
  let groups: ReadonlyMap<string, string> | undefined;
  let counts: ReadonlyMap<string, number> | undefined;
  const columns: Record<
    AttributeScope,
    (devices: readonly StoredDevice[], name: string) => Column
  > = {
    inventory: (devices, name) => store.inventory.valuesOf(idsOf(devices), name),
    tags: (devices, name) => store.tags.valuesOf(idsOf(devices), name),
    identity: (devices, name) => valuesIn(devices, identityAttributes, name),
    system: (devices, name) => {
      groups ??= store.groups.byDevice();
      const known = groups;
      return valuesIn(devices, (device) => systemAttributes(device, known.get(device.id)), name);
    },
    monitor: (devices, name) => {
      counts ??= store.monitor.criticalCounts();
      const known = counts;
      return valuesIn(devices, ({ id }) => monitorAttributes(known.get(id)), name);
    },
  };
  return (devices: readonly StoredDevice[], { scope, attribute }: AttributePlace): Column =>
    columns[scope](devices, attribute);
}

function idsOf(devices: readonly StoredDevice[]): string[] {
  return devices.map(({ id }) => id);
}

function valuesIn(
  devices: readonly StoredDevice[],
  attributesOf: (device: StoredDevice) => Attributes,
  wanted: string,
): Column {
  const values = new Map<string, unknown>();
  for (const device of devices) {
    const found = attributesOf(device).find(({ name }) => name === wanted);
    if (found) values.set(device.id, found.value);
  }
  return values;
}

function writtenAttributes(
  scope: 'inventory' | 'tags',
  attributes: readonly KeptAttribute[],
): Attributes {
  return attributes.map(({ name, value, description, updatedMs }) => ({
    name,
    scope,
    value,
    ...(description !== undefined && { description }),
    timestamp: iso(updatedMs),
  }));
}

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

function systemAttributes(device: StoredDevice, group: string | undefined): Attributes {
  const scope = 'system' as const;
  return [
    { name: 'created_ts', scope, value: iso(device.createdMs) },
    { name: 'updated_ts', scope, value: iso(device.updatedMs) },
    ...(group === undefined ? [] : [{ name: 'group', scope, value: group }]),
    ...(device.checkInMs ? [{ name: 'check_in_time', scope, value: iso(device.checkInMs) }] : []),
  ];
}

/** How many subjects are critical now; nothing of a device that has never sent an alert. */
function monitorAttributes(criticalCount: number | undefined): Attributes {
  if (criticalCount === undefined) return [];
  const scope = 'monitor' as const;
  return [
    { name: 'alert_count', scope, value: criticalCount },
    { name: 'alerts', scope, value: criticalCount > 0 },
  ];
}
