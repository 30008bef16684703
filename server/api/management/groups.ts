/**
 * Manages static groups of devices in the management API. A group exists while it contains a
 * device.
 */
import { yieldInTurns } from '../../../fixtures/base/clock.ts';
import { limits } from '../../../fixtures/contract/limits.ts';
import { groupNamePattern } from '../../../fixtures/contract/management/inventory.ts';
import { pathDetail, Refusal, refuse, roleDetail } from '../../http/refusal.ts';
import {
  defineEndpoint,
  defineEndpointWithOwnTransactions,
  type UserContext,
} from '../../pipeline/endpoint.ts';
import type { StoredDevice } from '../../store/devices.ts';
import { audit, deviceObject, userActor } from '../../tenants/audit.ts';
import { pagedResponse } from '../paging.ts';
import { provisionedDevice } from './provisioned-devices.ts';

const noSuchGroup = refuse.notFound(
  'no group has this name; a group exists only while it has devices',
  pathDetail('name', 'the name of a group that has devices'),
);
const notIn = refuse.notFound(
  'the device is not in this group',
  pathDetail('name', 'the group that the device is in'),
);
const otherGroup = refuse.forbidden(
  "the user's roles are limited to other groups",
  roleDetail("one of the groups of the user's roles"),
);

export const listGroups = defineEndpoint('list-groups', (_input, { store, user }) => {
  const names = store.groups.names(limits.groupsListedMax);
  return { status: 200, body: names.filter((name) => user.groups?.includes(name) ?? true) };
});

export const getDeviceGroup = defineEndpoint('get-device-group', ({ parameters }, context) => {
  const device = provisionedDevice(context, parameters.id);
  if (device instanceof Refusal) return device;
  return { status: 200, body: { group: context.store.groups.groupOf(device.id) ?? null } };
});

export const setDeviceGroup = defineEndpoint(
  'set-device-group',
  ({ parameters, body }, context) => {
    const device = provisionedDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    const barred = barredFrom(context, body.group);
    if (barred) return barred;
    moveDevice(context, device, body.group);
    return { status: 204 };
  },
);

export const clearDeviceGroup = defineEndpoint('clear-device-group', ({ parameters }, context) => {
  const device = provisionedDevice(context, parameters.id);
  if (device instanceof Refusal) return device;
  if (context.store.groups.groupOf(device.id) !== parameters.name) return notIn;
  moveDevice(context, device, undefined);
  return { status: 204 };
});

export const listGroupDevices = defineEndpoint(
  'list-group-devices',
  ({ parameters: { name }, query }, context) => {
    const { store } = context;
    const barred = barredFrom(context, name);
    if (barred) return barred;
    const total = store.groups.count(name);
    if (total === 0) return noSuchGroup;
    return pagedResponse(context, query, {
      total,
      list: (page) => store.groups.deviceIds(name, page),
    });
  },
);

export const addGroupDevices = defineEndpointWithOwnTransactions(
  'add-group-devices',
  async ({ parameters: { name }, body }, context) => {
    if (!groupNamePattern.test(name)) {
      return refuse.malformed(
        'name: must be 1 to 256 letters, digits, dashes and underscores',
        pathDetail('name', '1 to 256 letters, digits, dashes and underscores'),
      );
    }
    const barred = barredFrom(context, name);
    if (barred) return barred;
    return { status: 200, body: await moveAll(context, body, () => name) };
  },
);

export const removeGroupDevices = defineEndpointWithOwnTransactions(
  'remove-group-devices',
  async ({ parameters: { name }, body }, context) => {
    const { groups } = context.store;
    const barred = barredFrom(context, name);
    if (barred) return barred;
    if (groups.count(name) === 0) return noSuchGroup;
    const { updated_count } = await moveAll(context, body, (former) =>
      former === name ? undefined : former,
    );
    return { status: 200, body: { updated_count, matched_count: updated_count } };
  },
);

/**
 * Refuses a group that the roles of the user do not include. Users without group limits may use
 * every group.
 */
function barredFrom({ user }: UserContext, group: string): Refusal | undefined {
  return user.groups && !user.groups.includes(group) ? otherGroup : undefined;
}

/**
 * Number of devices moved in one transaction. It is small because each move also writes an audit
 * entry.
 */
const MOVED_TOGETHER = 50;

/**
 * Moves devices to the group that `groupAfter` returns for their current group. IDs of unknown
 * devices, and of devices that the user may not access, are skipped.
 */
async function moveAll(
  context: UserContext,
  ids: readonly string[],
  groupAfter: (former: string | undefined) => string | undefined,
): Promise<{ updated_count: number; matched_count: number }> {
  const { store } = context;
  const counts = { updated_count: 0, matched_count: 0 };
  for await (const batch of yieldInTurns(splitIntoBatches([...new Set(ids)], MOVED_TOGETHER))) {
    store.atomically(() => {
      for (const id of batch) {
        const device = provisionedDevice(context, id);
        if (device instanceof Refusal) continue;
        counts.matched_count += 1;
        const group = groupAfter(store.groups.groupOf(id));
        if (moveDevice(context, device, group)) counts.updated_count += 1;
      }
    });
  }
  return counts;
}

function* splitIntoBatches<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

/**
 * Moves the device to a group, or out of its group if `group` is undefined. Returns false if
 * nothing changed.
 */
function moveDevice(
  context: UserContext,
  device: StoredDevice,
  group: string | undefined,
): boolean {
  const { groups } = context.store;
  const former = groups.groupOf(device.id);
  if (former === group) return false;
  if (group === undefined) groups.clear(device.id);
  else groups.assign(device.id, group);
  audit(context, {
    actor: userActor(context.user),
    action: 'update',
    object: deviceObject(device),
    change: `group: ${former ?? 'none'} -> ${group ?? 'none'}`,
  });
  return true;
}
