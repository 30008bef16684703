import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  RoleDescription,
  RoleDescriptionV1,
} from '../../../fixtures/contract/management/roles.ts';
import { entries } from '../../testing/test-audit.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import {
  groupScope,
  loggedInUser,
  secondTenant,
  type TestTenant,
} from '../../testing/test-tenants.ts';

let server: TestServer;
let second: TestTenant;
let number = 0;

beforeAll(async () => {
  server = await startTestServer();
  second = await secondTenant(server);
});

afterAll(() => server.close());

const readTest = { name: 'ReadDevices', scope: groupScope('test') };
const viewTest = { action: 'VIEW_DEVICE', object: { type: 'DEVICE_GROUP', value: 'test' } };

/** Each version of the role form has its own operations. */
const versions = {
  'create-role-v1': { update: 'update-role-v1', remove: 'delete-role-v1', get: 'get-role-v1' },
  'create-role': { update: 'update-role', remove: 'delete-role', get: 'get-role' },
} as const;
type Version = keyof typeof versions;
const both = Object.keys(versions) as Version[];

/** Returns the part of a role's body that holds its permissions. */
function permits(version: Version, isEmpty = false): object {
  if (version === 'create-role') return { permission_sets_with_scope: isEmpty ? [] : [readTest] };
  return { permissions: isEmpty ? [] : [viewTest] };
}

it('the permissions of a role are limited to 16 KiB', async () => {
  const groups = Array.from({ length: 100 }, (_, at) => `${'g'.repeat(200)}${at}`);
  const set = { name: 'ReadDevices', scope: groupScope(...groups) };
  const json = { name: newName(), description: 'd', permission_sets_with_scope: [set] };
  const { status, text } = await create('create-role', json);
  expect([status, text]).toEqual([400, expect.stringContaining('at most 16384 bytes')]);
  const small = { ...json, permission_sets_with_scope: [readTest] };
  expect((await create('create-role', small)).status).toBe(201);
  const update = { parameters: { id: json.name }, json: { permission_sets_with_scope: [set] } };
  const changed = await server.call('update-role', { token: server.adminToken, ...update });
  expect(changed.status).toBe(400);
});

function newName(): string {
  number += 1;
  return `role ${number}`;
}

function create(version: Version, json: unknown, token = server.adminToken) {
  return server.call(version, { token, json });
}

async function createRole(version: Version, name = newName()): Promise<string> {
  const response = await create(version, { name, ...permits(version) });
  expect(response.status).toBe(201);
  return name;
}

function get(version: Version, id: string, token = server.adminToken) {
  return server.call(versions[version].get, { token, parameters: { id } });
}

function update(version: Version, id: string, json: unknown, token = server.adminToken) {
  return server.call(versions[version].update, { token, parameters: { id }, json });
}

function remove(version: Version, id: string, token = server.adminToken) {
  return server.call(versions[version].remove, { token, parameters: { id } });
}

describe.each(both)('a role created by %s', (version) => {
  it('has a Location and an audit entry as a change of the tenant', async () => {
    const json = { name: newName(), description: 'tests', ...permits(version) };
    const response = await create(version, json);
    expect([response.status, response.text]).toEqual([201, '']);
    const location = response.headers.get('location') ?? '';
    const role = await server.request('GET', location, { token: server.adminToken });
    expect(role.json()).toEqual(json);
    const [entry] = await entries(server);
    expect(entry).toMatchObject({
      action: 'update',
      object: { type: 'tenant', tenant: { name: 'Default' } },
      change: `Created role ${json.name}`,
    });
  });

  it('must have a unique name in its tenant, also beside the predefined roles', async () => {
    const name = await createRole(version);
    for (const taken of [name, 'RBAC_ROLE_CI']) {
      const response = await create(version, { name: taken, ...permits(version) });
      expect([response.status, response.json().error]).toEqual([
        409,
        expect.stringContaining(taken),
      ]);
    }
    const foreign = await create(version, { name, ...permits(version) }, second.token);
    expect(foreign.status).toBe(201);
  });

  it('can have in version 1 an empty object value, except for a group', async () => {
    if (version !== 'create-role-v1') return;
    for (const permission of [
      { action: 'any', object: { type: 'any', value: '' } },
      { action: 'http', object: { type: 'GET', value: '' } },
    ]) {
      const name = newName();
      expect((await create(version, { name, permissions: [permission] })).status).toBe(201);
    }
    const group = { action: 'VIEW_DEVICE', object: { type: 'DEVICE_GROUP', value: '' } };
    const refused = await create(version, { name: newName(), permissions: [group] });
    expect([refused.status, refused.json().error]).toEqual([400, expect.stringContaining('group')]);
  });

  it.each<[string, object, string]>([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name with a slash', { name: 'a/b' }, 'name'],
    ['a name that is too long', { name: 'n'.repeat(257) }, 'name'],
    ['a name that is not a string', { name: 5 }, 'name'],
    ['a description that is not a string', { description: 5 }, 'description'],
    ['a description that is too long', { description: 'd'.repeat(4097) }, 'description'],
    ['no permissions', { permission_sets_with_scope: undefined, permissions: undefined }, 'perm'],
    [
      'permissions that are not an array',
      { permission_sets_with_scope: {}, permissions: {} },
      'perm',
    ],
    [
      'too many permissions',
      {
        permission_sets_with_scope: Array(101).fill(readTest),
        permissions: Array(101).fill(viewTest),
      },
      'at most 100',
    ],
  ])('returns 400 for %s', async (_, wrong, named) => {
    const response = await create(version, { name: newName(), ...permits(version), ...wrong });
    expect([response.status, response.json().error]).toEqual([400, expect.stringContaining(named)]);
  });

  it('keeps the fields that an update does not contain', async () => {
    const name = await createRole(version);
    const first = await update(version, name, { name, description: 'new' });
    expect([first.status, first.text]).toEqual([200, '']);
    expect((await get(version, name)).json()).toEqual({
      name,
      description: 'new',
      ...permits(version),
    });
    await update(version, name, permits(version, true));
    expect((await get(version, name)).json()).toMatchObject({
      description: 'new',
      ...permits(version, true),
    });
    expect((await entries(server))[0]).toMatchObject({ change: `Updated role ${name}` });
  });

  it.each<[string, unknown]>([
    ['another name', { name: 'other', description: 'x' }],
    ['nothing', {}],
    ['a list', []],
    ['a description that is not a string', { description: null }],
    ['invalid permissions', { permissions: ['x'], permission_sets_with_scope: ['x'] }],
  ])('returns 400 if updated to %s', async (_, json) => {
    const name = await createRole(version);
    expect((await update(version, name, json)).status).toBe(400);
  });

  it('can be deleted once', async () => {
    const name = await createRole(version);
    expect((await remove(version, name)).status).toBe(204);
    expect((await get(version, name)).status).toBe(404);
    expect((await remove(version, name)).status).toBe(404);
    expect((await entries(server))[0]).toMatchObject({ change: `Deleted role ${name}` });
  });

  it('returns 409 if deleted while a user has it', async () => {
    const name = await createRole(version);
    const { id } = await loggedInUser(server, `holder-${number}@example.com`, { roles: [name] });
    const response = await remove(version, name);
    expect([response.status, response.json().error]).toEqual([
      409,
      expect.stringContaining('holder-'),
    ]);
    await server.call('delete-user', { token: server.adminToken, parameters: { id } });
    expect((await remove(version, name)).status).toBe(204);
  });

  it('returns 404 for an unknown name and for a name of another tenant', async () => {
    const name = await createRole(version);
    for (const [id, token] of [
      ['nothing', server.adminToken],
      [name, second.token],
    ] as const) {
      const statuses = [
        (await get(version, id, token)).status,
        (await update(version, id, { description: 'x' }, token)).status,
        (await remove(version, id, token)).status,
      ];
      expect(statuses).toEqual([404, 404, 404]);
    }
    expect((await get(version, name)).status).toBe(200);
  });

  it('returns 422 if it is a predefined one that is changed or deleted', async () => {
    const id = 'RBAC_ROLE_OBSERVER';
    expect((await update(version, id, { description: 'mine' })).status).toBe(422);
    expect((await remove(version, id)).status).toBe(422);
  });
});

describe('a role in the format of version 2', () => {
  it.each<[string, unknown, string]>([
    ['a set that there is not', { name: 'RuleTheWorld' }, 'must be one of Basic'],
    [
      'a scope for a set without devices',
      { name: 'ReadReleases', scope: groupScope('a') },
      'scope',
    ],
    [
      'a scope by tags',
      { ...readTest, scope: { type: 'ReleaseTags', value: ['a'] } },
      'scope.type',
    ],
    ['a scope without groups', { ...readTest, scope: groupScope() }, 'scope.value'],
    ['an invalid group', { ...readTest, scope: groupScope('a b') }, 'scope.value'],
    ['a scope that is not an object', { ...readTest, scope: 'test' }, 'scope'],
    ['a bare word', 'ReadDevices', 'permission_sets_with_scope.0'],
  ])('returns 400 for %s', async (_, set, named) => {
    const json = { name: newName(), permission_sets_with_scope: [set] };
    const response = await create('create-role', json);
    expect([response.status, response.json().error]).toEqual([400, expect.stringContaining(named)]);
  });
});

describe('a role in the format of version 1', () => {
  it.each<[string, unknown, string]>([
    ['an unknown action', { ...viewTest, action: 'LAUNCH' }, 'permissions.0.action'],
    ['no object', { action: 'http' }, 'permissions.0.object'],
    [
      'a pattern that could take long',
      { action: 'http', object: { type: 'GET', value: '(a+)+' } },
      'permissions.0.object.value',
    ],
  ])('returns 400 for %s at creation and at update', async (_, permission, named) => {
    const json = { permissions: [permission] };
    const name = await createRole('create-role-v1');
    for (const response of [
      await create('create-role-v1', { name: newName(), ...json }),
      await update('create-role-v1', name, json),
    ]) {
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringContaining(named),
      ]);
    }
  });

  it('is shown in version 2 too, and the reverse', async () => {
    const name = await createRole('create-role-v1');
    expect((await get('create-role', name)).json()).toMatchObject({
      permission_sets_with_scope: [readTest],
    });
    const otherName = await createRole('create-role');
    expect((await get('create-role-v1', otherName)).json()).toMatchObject({
      permissions: [viewTest],
    });
  });

  it('is shown in version 2 with paths that permission sets cannot express', async () => {
    const name = newName();
    const http = { action: 'http', object: { type: 'GET', value: '/useradm/' } };
    await create('create-role-v1', { name, permissions: [http] });
    expect((await get('create-role', name)).json()).toEqual({
      name,
      description: '',
      permission_sets_with_scope: [],
      permissions: [http],
    });
  });
});

describe('the list of roles', () => {
  it('begins with the predefined roles in both versions', async () => {
    const call = { token: second.token, query: { per_page: '5' } };
    const roles = (await server.call('list-roles', call)).json<RoleDescription[]>();
    expect(roles[0]).toEqual({
      name: 'RBAC_ROLE_PERMIT_ALL',
      description: 'Full access.',
      permission_sets_with_scope: [{ name: 'SuperUser' }],
    });
    expect(roles.map(({ name }) => name)).toContain('RBAC_ROLE_REMOTE_TERMINAL');
    const first = (await server.call('list-roles-v1', call)).json<RoleDescriptionV1[]>();
    expect(first.map(({ name }) => name)).toEqual(roles.map(({ name }) => name));
    expect(first[0]?.permissions).toEqual([
      { action: 'any', object: { type: 'any', value: 'any' } },
    ]);
  });

  it('comes in pages', async () => {
    await createRole('create-role');
    const token = server.adminToken;
    const response = await server.call('list-roles', {
      token,
      query: { per_page: '5', page: '2' },
    });
    expect(response.json<RoleDescription[]>()[0]?.name).toMatch(/^role \d+$/);
    expect(response.headers.get('link')).toContain('rel="prev"');
    const past = await server.call('list-roles-v1', { token, query: { page: '99' } });
    expect([past.status, past.text]).toEqual([200, '[]']);
  });

  it.each(['list-roles', 'list-roles-v1'] as const)(
    'returns 400 by %s for more than 500 per page',
    async (id) => {
      const call = { token: server.adminToken, query: { per_page: '501' } };
      expect((await server.call(id, call)).status).toBe(400);
    },
  );
});

describe('the role limits of a tenant', () => {
  it('allow a hundred roles of its own', async () => {
    const { token } = await secondTenant(server, 'Third');
    const permission_sets_with_scope: unknown[] = [];
    for (let count = 0; count < 100; count += 1) {
      const json = { name: `r${count}`, permission_sets_with_scope };
      expect((await create('create-role', json, token)).status).toBe(201);
    }
    const json = { name: 'one too many', permission_sets_with_scope };
    expect((await create('create-role', json, token)).status).toBe(422);
  });

  it('require a user with full rights, even through a role of its own', async () => {
    const { token } = await secondTenant(server, 'Fourth');
    const all = { name: 'all', permission_sets_with_scope: [{ name: 'SuperUser' }] };
    await create('create-role', all, token);
    const { id } = (await server.call('get-own-user', { token })).json<{ id: string }>();
    const roles = ['all'];
    expect(
      (await server.call('update-user', { token, parameters: { id }, json: { roles } })).status,
    ).toBe(204);
    const response = await update('create-role', 'all', { permission_sets_with_scope: [] }, token);
    expect([response.status, response.json().error]).toEqual([
      422,
      expect.stringContaining('the last'),
    ]);
    expect((await server.call('list-users', { token })).status).toBe(200);
  });
});
