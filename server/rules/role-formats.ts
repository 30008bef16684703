/**
 * Converts the two wire formats of a role from and to grants. The second format names permission
 * sets; the first one lists permissions: everything, operations by method and path, or an action on
 * the devices of a group.
 */
import {
  type PermissionSetName,
  permissionSets,
} from '../../fixtures/contract/management/access.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { groupNamePattern } from '../../fixtures/contract/management/inventory.ts';
import type { Permission, ScopedSet } from '../../fixtures/contract/management/roles.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { Grant, PathGrant, SetGrant } from './access.ts';
import type { Problem } from './problem.ts';

const userOperations: readonly Operation[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
].filter(({ authorization }) => authorization === 'user');

const anything: Permission = { action: 'any', object: { type: 'any', value: 'any' } };
const groupType = 'DEVICE_GROUP';
const methods = ['any', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Actions of the first format on the devices of a group, with the permission set each is equivalent
 * to.
 */
const groupActions: Readonly<Record<string, PermissionSetName>> = {
  CREATE_DEPLOYMENT: 'DeployToDevices',
  VIEW_DEVICE: 'ReadDevices',
};

export function grantsOfSets(sets: readonly ScopedSet[]): SetGrant[] {
  return sets.map(({ name, scope }) => ({ set: name, ...(scope && { groups: scope.value }) }));
}

/** Returns the permission sets among the grants, in the second format. */
export function setsOf(grants: readonly Grant[]): ScopedSet[] {
  return grants.flatMap((grant) => {
    if (!('set' in grant)) return [];
    const { set: name, groups } = grant;
    return [
      { name, ...(groups && { scope: { type: 'DeviceGroups', value: [...groups] } as const }) },
    ];
  });
}

/** Returns the grants that the second format cannot express, in the first format. */
export function permissionsBesideSets(grants: readonly Grant[]): Permission[] {
  return grants.flatMap((grant) => ('set' in grant ? [] : [permissionOfPath(grant)]));
}

/** Returns all grants in the first format. */
export function permissionsOf(grants: readonly Grant[]): Permission[] {
  return grants.flatMap((grant) => {
    if (!('set' in grant)) return [permissionOfPath(grant)];
    const { set, groups } = grant;
    if (!groups) return permissionsOfSet(set);
    const action = Object.keys(groupActions).find((word) => groupActions[word] === set) ?? set;
    return groups.map((value) => ({ action, object: { type: groupType, value } }));
  });
}

/** Returns the operations that a permission set permits, in the first format. */
export function permissionsOfSet(name: PermissionSetName): Permission[] {
  if (name === 'SuperUser') return [anything];
  return userOperations
    .filter(({ permissions }) => permissions?.includes(name))
    .map(({ method, path }) => {
      const value = `^${path.replace(/\{\w+\}/g, '[^/]+')}$`;
      return { action: 'http', object: { type: method, value } };
    });
}

/** Returns the grants of a role in the first format, or why it is invalid. */
export function grantsOfPermissions(
  permissions: readonly Permission[],
): readonly Grant[] | Problem {
  const grants: Grant[] = [];
  for (const [index, permission] of permissions.entries()) {
    const grant = grantOf(permission);
    if ('problem' in grant) return { ...grant, path: `permissions.${index}.${grant.path}` };
    grants.push(grant);
  }
  return grants;
}

function grantOf(permission: Permission): Grant | Required<Problem> {
  const { action, object } = permission;
  if (action === 'any' && object.type === 'any' && ['any', ''].includes(object.value)) {
    return { set: 'SuperUser' };
  }
  if (action === 'http') return pathGrantOf(object);
  const actionSet = groupActions[action] ?? scopedSetNamed(action);
  if (!actionSet) {
    const names = [...Object.keys(groupActions), ...scopedSets].join(', ');
    return {
      path: 'action',
      problem: `"${action}" must be one of any, http, ${names}; any requires the object type any and the value any`,
    };
  }
  if (object.type !== groupType)
    return { path: 'object.type', problem: `must be ${groupType} for this action` };
  if (!groupNamePattern.test(object.value)) {
    return { path: 'object.value', problem: 'must be a group name' };
  }
  return { set: actionSet, groups: [object.value] };
}

const scopedSets = (Object.keys(permissionSets) as PermissionSetName[]).filter(
  (name) => permissionSets[name].scoped,
);

function scopedSetNamed(action: string): PermissionSetName | undefined {
  return scopedSets.find((name) => name === action);
}

/**
 * Accepts a subset of regular expressions: apart from whole segments nothing may repeat, so that
 * matching is fast.
 */
const pattern = /^\^?(?:[\w/-]|\.[*+]?|\[\^\/\][*+]?|\[\d-\d\]|\((?:[\w.-]|\||\[\d-\d\])+\))+\$?$/;
const WILDCARDS_MAX = 3;

function pathGrantOf({ type, value }: Permission['object']): PathGrant | Required<Problem> {
  if (!methods.includes(type)) {
    return { path: 'object.type', problem: `must be one of ${methods.join(', ')}` };
  }
  if (
    (value !== '' && !pattern.test(value)) ||
    (value.match(/[*+]/g)?.length ?? 0) > WILDCARDS_MAX
  ) {
    return {
      path: 'object.value',
      problem: `must be a path pattern of letters, (a|b), (v[1-9]) and at most ${WILDCARDS_MAX} of .* and [^/]+`,
    };
  }
  return { method: type, pattern: value, operations: operationsAt(type, new RegExp(value)) };
}

/**
 * A path never permits get-tenant-token, which returns the token that admits devices; it requires a
 * permission set.
 */
function operationsAt(method: string, path: RegExp): string[] {
  return userOperations
    .filter((row) => method === 'any' || row.method === method)
    .filter((row) => row.id !== 'get-tenant-token')
    .filter((row) => path.test(row.path.replace(/\{\w+\}/g, 'x')))
    .map(({ id }) => id);
}

function permissionOfPath({ method, pattern: value }: PathGrant): Permission {
  return { action: 'http', object: { type: method, value } };
}
