import { describe, expect, it } from 'vitest';
import {
  type PermissionSetName,
  permissionSets,
} from '../../fixtures/contract/management/access.ts';
import type { Permission, ScopedSet } from '../../fixtures/contract/management/roles.ts';
import type { Grant, PathGrant } from './access.ts';
import {
  grantsOfPermissions,
  grantsOfSets,
  permissionsBesideSets,
  permissionsOf,
  permissionsOfSet,
  setsOf,
} from './role-formats.ts';

const useradm = '^/api/management/(v[1-9])/useradm/';
const groups: ScopedSet['scope'] = { type: 'DeviceGroups', value: ['a', 'b'] };

function http(type: string, value: string): Permission {
  return { action: 'http', object: { type, value } };
}

function groupPermission(action: string, value: string): Permission {
  return { action, object: { type: 'DEVICE_GROUP', value } };
}

/** Returns the operations that one permission of the first format maps to. */
function operationsOf(permission: Permission): readonly string[] {
  const grants = grantsOfPermissions([permission]) as readonly PathGrant[];
  return grants[0]?.operations ?? [];
}

describe('a role in the format of version 2', () => {
  it('is returned as it was given', () => {
    const sets: ScopedSet[] = [{ name: 'ReadDevices', scope: groups }, { name: 'ManageUsers' }];
    expect(setsOf(grantsOfSets(sets))).toEqual(sets);
    expect(permissionsBesideSets(grantsOfSets(sets))).toEqual([]);
  });

  it('can be shown in the format of version 1', () => {
    const grants: Grant[] = [
      { set: 'DeployToDevices', groups: ['a', 'b'] },
      { set: 'ConnectToDevices', groups: ['a'] },
      { set: 'ReadAuditLogs' },
    ];
    expect(permissionsOf(grants)).toEqual([
      groupPermission('CREATE_DEPLOYMENT', 'a'),
      groupPermission('CREATE_DEPLOYMENT', 'b'),
      groupPermission('ConnectToDevices', 'a'),
      http('GET', '^/api/management/v1/auditlogs/logs$'),
      http('GET', '^/api/management/v1/auditlogs/logs/export$'),
    ]);
  });
});

describe('a role in the format of version 1', () => {
  it.each<[Permission, Grant]>([
    [{ action: 'any', object: { type: 'any', value: 'any' } }, { set: 'SuperUser' }],
    [groupPermission('CREATE_DEPLOYMENT', 'a'), { set: 'DeployToDevices', groups: ['a'] }],
    [groupPermission('VIEW_DEVICE', 'a'), { set: 'ReadDevices', groups: ['a'] }],
    [groupPermission('ConfigureDevices', 'a'), { set: 'ConfigureDevices', groups: ['a'] }],
  ])('is mapped from %j to %j and back', (permission, grant) => {
    expect(grantsOfPermissions([permission])).toEqual([grant]);
    expect(permissionsBesideSets([grant])).toEqual([]);
  });

  it('permits operations by method and path', () => {
    expect(operationsOf(http('GET', `${useradm}users`))).toEqual(
      expect.arrayContaining(['list-users', 'get-user', 'get-own-user']),
    );
    expect(operationsOf(http('GET', `${useradm}users$`))).toEqual(['list-users']);
    expect(operationsOf(http('any', `${useradm}users/[^/]+$`))).toEqual(
      expect.arrayContaining(['get-user', 'update-user', 'delete-user']),
    );
    expect(operationsOf(http('DELETE', '/(users|roles)/.*'))).toEqual(
      expect.arrayContaining(['delete-user', 'delete-role', 'delete-role-v1']),
    );
    expect(operationsOf(http('GET', '^/nothing/here'))).toEqual([]);
  });

  it('keeps path permissions separately from sets', () => {
    const permission = http('GET', `${useradm}.*`);
    const grants = grantsOfPermissions([permission]) as readonly Grant[];
    expect(setsOf(grants)).toEqual([]);
    expect(permissionsBesideSets(grants)).toEqual([permission]);
    expect(permissionsOf(grants)).toEqual([permission]);
  });

  it('never permits devices, login or the tenant token by path', () => {
    const open = operationsOf(http('any', '.*'));
    expect(open).toContain('list-devices');
    for (const id of ['get-tenant-token', 'login', 'put-deployment-status']) {
      expect(open).not.toContain(id);
    }
  });

  it.each<[string, Permission]>([
    ['permissions.0.action', groupPermission('LAUNCH', 'a')],
    ['permissions.0.action', { action: 'any', object: { type: 'any', value: 'all' } }],
    ['permissions.0.action', groupPermission('ManageUsers', 'a')],
    ['permissions.0.object.type', { action: 'VIEW_DEVICE', object: { type: 'any', value: 'a' } }],
    ['permissions.0.object.value', groupPermission('VIEW_DEVICE', 'no group!')],
    ['permissions.0.object.type', http('FETCH', useradm)],
    ['permissions.0.object.value', http('GET', '(a+)+$')],
    ['permissions.0.object.value', http('GET', '(a*)*')],
    ['permissions.0.object.value', http('GET', '((a|b))')],
    ['permissions.0.object.value', http('GET', '.*.*.*.*')],
    ['permissions.0.object.value', http('GET', 'a{1,99999}')],
    ['permissions.0.object.value', http('GET', '(?=a)')],
    ['permissions.0.object.value', http('GET', '[')],
    ['permissions.0.object.value', http('GET', 'a b')],
  ])('is refused at %s: %j', (path, permission) => {
    const refused = grantsOfPermissions([permission]);
    expect(refused).toEqual({ path, problem: expect.any(String) });
  });
});

describe('a permission set shown in the format of version 1', () => {
  const names = Object.keys(permissionSets) as PermissionSetName[];

  it.each(names)('can be read back: %s', (name) => {
    const permissions = permissionsOfSet(name);
    expect(permissions.length).toBeGreaterThan(0);
    const grants = grantsOfPermissions(permissions);
    expect(grants).toHaveLength(permissions.length);
    for (const grant of grants as readonly Grant[]) {
      // Only sets can permit the tenant token; a path never does.
      if ('operations' in grant && !grant.pattern.includes('token')) {
        expect(grant.operations.length).toBeGreaterThan(0);
      }
    }
  });
});
