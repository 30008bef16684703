/**
 * Returns the attributes of devices as users see them. Devices write the scope inventory, users
 * write the scope tags, and the server derives the other three scopes from its own data.
 */
import type { InventoryDevice } from '../../../fixtures/contract/management/inventory.ts';
import type { AttributeScope } from '../../../fixtures/contract/vocabulary.ts';
import type { StoredAttribute } from '../../rules/inventory.ts';
import type { ReadValue } from '../../rules/inventory-search.ts';
import type { StoredDevice } from '../../store/devices.ts';
import type { Store } from '../../store/store.ts';
import { identityData, iso } from './views.ts';

type InventoryAttributes = InventoryDevice['attributes'];

/** Returns a device with its attributes in all scopes. */
export function inventoryView(store: Store, device: StoredDevice): InventoryDevice {
  const reportedAttributes = store.inventory.list(device.id);
  const tags = store.tags.list(device.id);
  const writtenMs = [...reportedAttributes, ...tags].map(({ updatedMs }) => updatedMs);
  return {
    id: device.id,
    updated_ts: iso(Math.max(device.updatedMs, ...writtenMs)),
    attributes: [
      ...writtenAttributes('inventory', reportedAttributes),
      ...writtenAttributes('tags', tags),
      ...identityAttributes(device),
      ...systemAttributes(device, store.groups.groupOf(device.id)),
      ...monitorAttributes(store.monitor.criticalCount(device.id)),
    ],
  };
}

/**
 * Returns a function that reads attribute values of one device. All values of a scope are loaded
 * when one of them is first read.
 */
export function valueReader(store: Store, device: StoredDevice): ReadValue {
  const { id } = device;
  const scopes: Record<AttributeScope, () => readonly NamedValue[]> = {
    inventory: () => store.inventory.list(id),
    tags: () => store.tags.list(id),
    identity: () => identityAttributes(device),
    system: () => systemAttributes(device, store.groups.groupOf(id)),
    monitor: () => monitorAttributes(store.monitor.criticalCount(id)),
  };
  const valuesByScope = new Map<AttributeScope, readonly NamedValue[]>();
  return ({ scope, attribute }) => {
    const values = valuesByScope.get(scope) ?? scopes[scope]();
    valuesByScope.set(scope, values);
    return values.find(({ name }) => name === attribute)?.value;
  };
}

interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

function writtenAttributes(
  scope: 'inventory' | 'tags',
  attributes: readonly StoredAttribute[],
): InventoryAttributes {
  return attributes.map(({ name, value, description, updatedMs }) => ({
    name,
    scope,
    value,
    description,
    timestamp: iso(updatedMs),
  }));
}

/**
 * Returns the attributes of the identity. `status` is always the device's authentication status,
 * even if the device sent a value under that name.
 */
function identityAttributes(device: StoredDevice): InventoryAttributes {
  const scope = 'identity' as const;
  return [
    ...Object.entries(identityData(device))
      .filter(([name]) => name !== 'status')
      .map(([name, value]) => ({ name, scope, value })),
    { name: 'status', scope, value: device.status },
  ];
}

function systemAttributes(device: StoredDevice, group: string | undefined): InventoryAttributes {
  const scope = 'system' as const;
  return [
    { name: 'created_ts', scope, value: iso(device.createdMs) },
    { name: 'updated_ts', scope, value: iso(device.updatedMs) },
    ...(group === undefined ? [] : [{ name: 'group', scope, value: group }]),
    ...(device.checkInMs ? [{ name: 'check_in_time', scope, value: iso(device.checkInMs) }] : []),
  ];
}

/**
 * Returns the number of subjects that are critical now, or nothing if the device has never sent an
 * alert.
 */
function monitorAttributes(criticalCount: number | undefined): InventoryAttributes {
  if (criticalCount === undefined) return [];
  const scope = 'monitor' as const;
  return [
    { name: 'alert_count', scope, value: criticalCount },
    { name: 'alerts', scope, value: criticalCount > 0 },
  ];
}
