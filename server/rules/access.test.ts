import { describe, expect, it } from 'vitest';
import { decideAccess, type Grant, isAdmin, type Role } from './access.ts';

function role(...grants: readonly Grant[]): Role {
  return { name: 'role', description: '', grants };
}

const allow = { decision: 'allow' };

describe('the access decision for a user', () => {
  it('permits a user without roles to do everything', () => {
    expect(decideAccess('delete-user', [])).toEqual(allow);
    expect(decideAccess('get-tenant-token', [])).toEqual(allow);
  });

  it('permits basic operations whatever the roles', () => {
    expect(decideAccess('get-own-user', [role()])).toEqual(allow);
    expect(decideAccess('get-own-user', [role({ set: 'ReadDevices', groups: ['a'] })])).toEqual(
      allow,
    );
  });

  it.each<[string, Grant, boolean]>([
    ['list-devices', { set: 'ReadDevices' }, true],
    ['list-devices', { set: 'ManageDevices' }, false],
    ['list-devices', { set: 'ReadReleases' }, false],
    ['list-devices', { set: 'SuperUser' }, true],
    ['decommission-device', { set: 'ReadDevices' }, false],
    ['decommission-device', { set: 'ManageDevices' }, true],
    ['set-configuration', { set: 'DeployToDevices' }, false],
    ['set-configuration', { set: 'ConfigureDevices' }, true],
    ['create-deployment', { set: 'ReadDevices' }, false],
    ['create-deployment', { set: 'DeployToDevices' }, true],
    ['get-artifact-download', { set: 'DeployToDevices' }, false],
    ['upload-artifact', { set: 'ReadReleases' }, false],
    ['list-audit-logs', { set: 'ReadUsers' }, false],
    ['list-audit-logs', { set: 'ReadAuditLogs' }, true],
    ['delete-user', { set: 'ReadUsers' }, false],
    ['delete-user', { set: 'ManageUsers' }, true],
    ['create-personal-token', { set: 'ReadDevices' }, false],
    ['create-personal-token', { set: 'ManageTokens' }, true],
    ['get-tenant-token', { set: 'ManageDevices' }, true],
    ['get-tenant-token', { set: 'ReadDevices' }, false],
  ])('is made for %s with %j: %j', (id, grant, isAllowed) => {
    expect(decideAccess(id, [role(grant)]).decision).toBe(isAllowed ? 'allow' : 'refuse');
  });

  it('permits an operation without a table row only to SuperUser', () => {
    expect(decideAccess('brand-new', [role({ set: 'SuperUser' })])).toEqual(allow);
    expect(decideAccess('brand-new', [role({ set: 'ManageUsers' })]).decision).toBe('refuse');
  });

  it('names the missing permission set', () => {
    expect(decideAccess('list-users', [role({ set: 'ReadDevices' })])).toEqual({
      decision: 'refuse',
      reason:
        "the user's roles do not permit this; one of them must include the permission set ReadUsers or ManageUsers or SuperUser",
    });
  });
});

describe('roles that are limited to groups', () => {
  const inA: Grant = { set: 'ReadDevices', groups: ['a'] };
  const inBandC: Grant = { set: 'ReadDevices', groups: ['b', 'c', 'b'] };

  it('limit an operation to the groups of all grants that permit it', () => {
    expect(decideAccess('list-devices', [role(inA), role(inBandC)])).toEqual({
      decision: 'allow',
      groups: ['a', 'b', 'c'],
    });
  });

  it('do not use the groups of a grant for another operation', () => {
    const otherGrant: Grant = { set: 'ManageDevices', groups: ['z'] };
    expect(decideAccess('list-devices', [role(inA, otherGrant)])).toMatchObject({ groups: ['a'] });
    expect(decideAccess('decommission-device', [role(inA, otherGrant)])).toMatchObject({
      groups: ['z'],
    });
  });

  it('set no limit when another role permits the operation for all devices', () => {
    expect(decideAccess('list-devices', [role(inA), role({ set: 'ReadDevices' })])).toEqual(allow);
    expect(decideAccess('list-devices', [role({ set: 'SuperUser' }, inA)])).toEqual(allow);
  });

  it.each(['get-tenant-token', 'preauthorize-device'])(
    'do not permit %s, which concerns no device of a group',
    (id) => {
      const decision = decideAccess(id, [role({ set: 'ManageDevices', groups: ['a'] })]);
      expect(decision).toMatchObject({
        decision: 'refuse',
        reason: expect.stringContaining('for all devices, not only for groups'),
      });
    },
  );
});

describe('grants by path', () => {
  const grant: Grant = { method: 'GET', pattern: '/x', operations: ['list-users'] };

  it('permit their operations without a limit to groups', () => {
    expect(decideAccess('list-users', [role(grant)])).toEqual(allow);
    expect(decideAccess('delete-user', [role(grant)]).decision).toBe('refuse');
  });
});

describe('an admin of the tenant', () => {
  it.each<[string, readonly Role[], boolean]>([
    ['no roles', [], true],
    ['SuperUser among other roles', [role({ set: 'ReadUsers' }), role({ set: 'SuperUser' })], true],
    ['not the role that manages users', [role({ set: 'ManageUsers' })], false],
    ['not a role without grants', [role()], false],
  ])('is recognized by the roles: %s', (_, roles, expected) => {
    expect(isAdmin(roles)).toBe(expected);
  });
});
