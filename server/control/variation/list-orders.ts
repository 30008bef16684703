/**
 * For every list in an answer: whether its order is told. Only the others are shuffled, and only
 * within the page that was asked for. The audit log, and whatever a `sort` parameter or a use one
 * after another puts in order, stay as they are.
 */
import type { Place } from './places.ts';

/** `free` where nobody tells an order; else who does, and which. */
type ListOrder = 'free' | { readonly ordered: string };

type Orders = Readonly<Record<Place, ListOrder>>;

const bySort = { ordered: 'the parameter sort, or its default, orders the page' };
const oneAfterAnother = { ordered: 'they are applied one after another' };
const newestFirst = { ordered: 'the reference implementation gives the newest first' };
const asAsked = { ordered: 'they follow the ids of the request' };

/** Spec: Artifact. Sets of types, names and files; only the updates follow one another. */
function artifactAt(prefix: string): Orders {
  return {
    [`${prefix}device_types_compatible`]: 'free',
    [`${prefix}clears_artifact_provides`]: 'free',
    [`${prefix}artifact_depends.*`]: 'free',
    [`${prefix}updates`]: oneAfterAnother,
    [`${prefix}updates.*.files`]: 'free',
  };
}

function deploymentAt(prefix: string): Orders {
  return {
    [`${prefix}phases`]: oneAfterAnother,
    [`${prefix}groups`]: 'free',
    [`${prefix}artifacts`]: 'free',
  };
}

const instructions: Orders = { 'artifact.device_types_compatible': 'free' };
const artifacts: Orders = { '': 'free', ...artifactAt('*.') };
const sortedArtifacts: Orders = { ...artifacts, '': bySort };
const names: Orders = { '': 'free' };
const users: Orders = { '': 'free', '*.roles': 'free' };
const roleV1: Orders = { permissions: 'free' };
const role: Orders = {
  permissions: 'free',
  permission_sets_with_scope: 'free',
  'permission_sets_with_scope.*.scope.value': 'free',
};
const permissionSet: Orders = { permissions: 'free', supported_scope_types: 'free' };
const devices: Orders = { '': 'free', '*.auth_sets': 'free' };
const release: Orders = { artifacts: 'free', ...artifactAt('artifacts.*.'), tags: 'free' };
const releaseV1: Orders = { Artifacts: 'free', ...artifactAt('Artifacts.*.') };
const inventories: Orders = { '': bySort, '*.attributes': 'free' };
const lines = { ordered: 'they are the lines of a log' };
const alerts: Orders = {
  '': bySort,
  '*.subject.details.lines_before': lines,
  '*.subject.details.lines_after': lines,
};

function each(orders: Orders, list: ListOrder): Orders {
  const below = Object.entries(orders).map(([place, order]) => [`*.${place}`, order]);
  return { '': list, ...Object.fromEntries(below) };
}

/** By operation and place. */
export const listOrders: Readonly<Record<string, Orders>> = {
  'list-artifacts': artifacts,
  'get-artifact': artifactAt(''),
  'get-next-deployment': instructions,
  'post-next-deployment': instructions,
  'post-next-deployment-v2': instructions,
  'list-audit-logs': { '': { ordered: 'sort: asc or desc by creation date, newest first' } },

  'list-users': users,
  'get-own-user': { roles: 'free' },
  'get-user': { roles: 'free' },
  'list-roles-v1': each(roleV1, 'free'),
  'get-role-v1': roleV1,
  'list-roles': each(role, 'free'),
  'get-role': role,
  'list-permission-sets': each(permissionSet, 'free'),
  'get-permission-set': permissionSet,
  'list-personal-tokens': names,
  'get-own-tenant-v1': { addons: 'free' },
  'get-own-tenant': { addons: 'free' },
  'list-devices': devices,
  'search-devices': devices,
  'get-device': { auth_sets: 'free' },
  'list-all-artifacts': sortedArtifacts,
  'list-artifacts-v1': artifacts,
  'list-paged-artifacts-v1': sortedArtifacts,
  'show-artifact': artifactAt(''),
  'list-releases': each(release, bySort),
  'list-releases-v1': each(releaseV1, 'free'),
  'list-paged-releases-v1': each(releaseV1, bySort),
  'get-release': release,
  'list-release-tags': names,
  'list-release-types': names,
  'list-delta-jobs': { '': newestFirst, '*.devices_types_compatible': 'free' },
  'get-delta-job': { devices_types_compatible: 'free' },
  'list-device-deployments': each(deploymentAt('deployment.'), newestFirst),
  'list-deployment-devices': names,
  'list-deployment-devices-v1': names,
  'list-deployment-device-ids': names,
  'list-deployments': each(deploymentAt(''), bySort),
  'list-deployments-v1': each(deploymentAt(''), bySort),
  'list-deployment-statistics': { '': asAsked },
  'get-deployment': deploymentAt(''),
  'list-inventory': inventories,
  'search-inventory': inventories,
  'get-inventory': { attributes: 'free' },
  'list-groups': names,
  'list-group-devices': names,
  'list-filterable-attributes': {
    '': { ordered: 'the reference implementation gives the most frequent first' },
  },
  'list-alerts': alerts,
  'list-latest-alerts': {
    ...alerts,
    '': { ordered: 'the reference implementation gives the oldest first' },
  },
  'show-monitor-configuration': names,
};

/** The lists of an operation whose order nobody tells. */
export function freeLists(operationId: string | undefined): readonly Place[] {
  const orders = (operationId !== undefined && listOrders[operationId]) || {};
  return Object.keys(orders).filter((place) => orders[place] === 'free');
}
