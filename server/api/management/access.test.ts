import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { type AcceptedDevice, acceptedDevice, decide } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import {
  groupScope,
  loggedInUser,
  type TestUser,
  testPassword,
  userWithSets,
} from '../../testing/test-tenants.ts';

let server: TestServer;
let inTest: AcceptedDevice;
let inProduction: AcceptedDevice;
let ungrouped: AcceptedDevice;
let observer: TestUser;
let limited: TestUser;
let powerless: TestUser;

beforeAll(async () => {
  server = await startTestServer();
  inTest = await acceptedDevice(server, 'in-test');
  inProduction = await acceptedDevice(server, 'in-production');
  ungrouped = await acceptedDevice(server, 'ungrouped');
  await group(inTest, 'test');
  await group(inProduction, 'production');
  observer = await loggedInUser(server, 'observer@example.com', { roles: ['RBAC_ROLE_OBSERVER'] });
  limited = await userWithSets(server, 'limited@example.com', [
    { name: 'ReadDevices', scope: groupScope('test') },
    { name: 'ManageDevices', scope: groupScope('test') },
  ]);
  powerless = await userWithSets(server, 'powerless@example.com', []);
});

afterAll(() => server.close());

async function group({ id }: AcceptedDevice, name: string): Promise<void> {
  const call = { token: server.adminToken, parameters: { id }, json: { group: name } };
  expect((await server.call('set-device-group', call)).status).toBe(204);
}

const rows: readonly Operation[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
].filter(({ authorization }) => authorization === 'user');

/** Every user may call these operations; the list is written by hand. */
const basic = [
  'logout',
  'get-own-user',
  'update-own-user',
  'update-own-user-v1',
  'start-email-change',
  'list-roles',
  'list-roles-v1',
  'get-role',
  'get-role-v1',
  'list-permission-sets',
  'get-permission-set',
  'get-own-tenant',
  'get-own-tenant-v1',
];

/** Calls an operation without a body, with `some` for every path parameter. */
function knock({ method, path }: Operation, token: string) {
  return server.request(method, path.replace(/\{\w+\}/g, 'some'), { token });
}

const beyondBasic = rows.filter(({ id }) => !basic.includes(id));

describe('a user whose role permits nothing', () => {
  it.each(beyondBasic.map((row) => [row.id, row] as const))(
    'gets 403 before any other check: %s',
    async (_, row) => {
      const response = await knock(row, powerless.token);
      expect(response.status).toBe(403);
      if (row.method === 'HEAD') return;
      expect(response.json()).toEqual({
        error: expect.stringMatching(/one of them must include the permission set \w+( or \w+)*/),
        request_id: response.headers.get('x-svc-requestid'),
      });
    },
  );

  it('can still call the operations that are open to everybody', async () => {
    const me = await server.call('get-own-user', { token: powerless.token });
    expect(me.json()).toMatchObject({ email: 'powerless@example.com' });
    expect((await server.call('list-roles', { token: powerless.token })).status).toBe(200);
  });

  it('gets 401, not 403, without a token', async () => {
    expect((await server.call('list-devices')).status).toBe(401);
  });

  it('gets 403 with a personal access token too', async () => {
    const user = await userWithSets(server, 'scripts@example.com', [{ name: 'ManageTokens' }]);
    const json = { name: 'script' };
    const personal = await server.call('create-personal-token', { token: user.token, json });
    expect(personal.status).toBe(200);
    expect((await server.call('list-devices', { token: personal.text })).status).toBe(403);
  });
});

describe('a user with the read-only role', () => {
  it('can read devices, deployments and artifacts', async () => {
    const { token } = observer;
    const devices = (await server.call('list-devices', { token })).json<Device[]>();
    expect(devices.map(({ id }) => id)).toEqual([inTest.id, inProduction.id, ungrouped.id]);
    for (const id of ['list-deployments', 'list-all-artifacts', 'count-devices'] as const) {
      expect((await server.call(id, { token })).status).toBe(200);
    }
  });

  const changing = beyondBasic.filter(
    ({ method, path }) =>
      !['GET', 'HEAD'].includes(method) && !/\/(search|statistics\/list)$/.test(path),
  );

  it.each(changing.map((row) => [row.id, row] as const))(
    'gets 403 for each operation that changes a resource: %s',
    async (_, row) => {
      expect((await knock(row, observer.token)).status).toBe(403);
    },
  );

  it('cannot read the tenant token in either version', async () => {
    const { token } = observer;
    expect((await server.call('get-tenant-token', { token })).status).toBe(403);
    const response = await server.call('get-own-tenant-v1', { token });
    expect([response.status, Object.keys(response.json())]).toEqual([
      200,
      expect.not.arrayContaining(['tenant_token']),
    ]);
  });

  it('gets 403 for a change of a device, which stays accepted', async () => {
    const parameters = { id: inTest.id, aid: inTest.authSetId };
    const call = { token: observer.token, parameters, json: { status: 'rejected' } };
    expect((await server.call('set-auth-set-status', call)).status).toBe(403);
    expect((await server.call('decommission-device', call)).status).toBe(403);
    const response = await server.call('get-device', { token: observer.token, parameters });
    expect(response.json()).toMatchObject({ status: 'accepted' });
  });

  it.each(['list-users', 'list-audit-logs', 'list-personal-tokens', 'get-tenant-token'] as const)(
    'gets 403 for %s',
    async (id) => {
      expect((await server.call(id, { token: observer.token })).status).toBe(403);
    },
  );
});

describe('a role limited to a group', () => {
  it('lists and counts only the devices of the group', async () => {
    const { token } = limited;
    const devices = (await server.call('list-devices', { token })).json<Device[]>();
    expect(devices.map(({ id }) => id)).toEqual([inTest.id]);
    expect((await server.call('count-devices', { token })).json()).toEqual({ count: 1 });
  });

  it('permits reading a device of the group, and returns 403 for others', async () => {
    const ask = (id: string) =>
      server.call('get-device', { token: limited.token, parameters: { id } });
    expect((await ask(inTest.id)).status).toBe(200);
    for (const { id } of [inProduction, ungrouped]) {
      const response = await ask(id);
      expect([response.status, response.json().error]).toEqual([
        403,
        expect.stringContaining('groups'),
      ]);
    }
    expect((await ask('nothing')).status).toBe(404);
  });

  it('permits changes of devices of the group; others stay unchanged', async () => {
    const set = ({ id, authSetId }: AcceptedDevice) =>
      server.call('set-auth-set-status', {
        token: limited.token,
        parameters: { id, aid: authSetId },
        json: { status: 'rejected' },
      });
    expect((await set(inTest)).status).toBe(204);
    expect((await set(inProduction)).status).toBe(403);
    const response = await server.call('get-device', {
      token: server.adminToken,
      parameters: { id: inProduction.id },
    });
    expect(response.json()).toMatchObject({ status: 'accepted' });
    await decide(server, inTest, 'accepted');
  });

  it('forbids preauthorization, because a new device is in no group', async () => {
    const json = { identity_data: { mac: 'new' }, pubkey: inTest.publicKeyPem };
    const response = await server.call('preauthorize-device', { token: limited.token, json });
    expect([response.status, response.json().error]).toEqual([
      403,
      expect.stringContaining('for all devices'),
    ]);
  });

  it('permits only the operations of its permission sets', async () => {
    expect((await server.call('list-all-artifacts', { token: limited.token })).status).toBe(403);
    const parameters = { id: inTest.id };
    const call = { token: limited.token, parameters, json: { key: 'value' } };
    expect((await server.call('set-configuration', call)).status).toBe(403);
  });

  it("adds to the permissions of the user's other roles", async () => {
    const json = {
      name: 'production',
      permission_sets_with_scope: [{ name: 'ReadDevices', scope: groupScope('production') }],
    };
    await server.call('create-role', { token: server.adminToken, json });
    const user = await userWithSets(server, 'both@example.com', [
      { name: 'ReadDevices', scope: groupScope('test') },
    ]);
    const roles = ['role-of-both-at-example.com', 'production'];
    const call = { token: server.adminToken, parameters: { id: user.id }, json: { roles } };
    await server.call('update-user', call);
    const { token } = await loggedIn(user);
    const devices = (await server.call('list-devices', { token })).json<Device[]>();
    expect(devices.map(({ id }) => id)).toEqual([inTest.id, inProduction.id]);
  });

  it('takes effect immediately after a change', async () => {
    const user = await userWithSets(server, 'changing@example.com', [
      { name: 'ReadDevices', scope: groupScope('test') },
    ]);
    const count = async () =>
      (await server.call('count-devices', { token: user.token })).json<{ count: number }>().count;
    expect(await count()).toBe(1);
    await server.call('update-role', {
      token: server.adminToken,
      parameters: { id: 'role-of-changing-at-example.com' },
      json: { permission_sets_with_scope: [{ name: 'ReadDevices' }] },
    });
    expect(await count()).toBe(3);
  });
});

/** Logs the user in again, because a change of roles has ended the user's session. */
async function loggedIn(user: TestUser): Promise<{ token: string }> {
  const credentials = Buffer.from(`${user.email}:${testPassword}`).toString('base64');
  const headers = { Authorization: `Basic ${credentials}` };
  return { token: (await server.call('login', { headers })).text };
}

describe('a role in the format of version 1', () => {
  it('limits a user to a group like the format of version 2', async () => {
    const json = {
      name: 'old-style',
      permissions: [{ action: 'VIEW_DEVICE', object: { type: 'DEVICE_GROUP', value: 'test' } }],
    };
    await server.call('create-role-v1', { token: server.adminToken, json });
    const { token } = await loggedInUser(server, 'old@example.com', { roles: ['old-style'] });
    expect((await server.call('count-devices', { token })).json()).toEqual({ count: 1 });
    expect((await server.call('list-users', { token })).status).toBe(403);
  });

  it('permits operations by a pattern of their paths', async () => {
    const value = '^/api/management/(v[1-9])/useradm/.*';
    const json = {
      name: 'by-path',
      permissions: [{ action: 'http', object: { type: 'GET', value } }],
    };
    await server.call('create-role-v1', { token: server.adminToken, json });
    const { id, token } = await loggedInUser(server, 'path@example.com', { roles: ['by-path'] });
    expect((await server.call('list-users', { token })).status).toBe(200);
    expect((await server.call('delete-user', { token, parameters: { id } })).status).toBe(403);
    expect((await server.call('list-devices', { token })).status).toBe(403);
  });
});

describe('a predefined role', () => {
  it.each<[string, (keyof typeof managementOperations)[], (keyof typeof managementOperations)[]]>([
    [
      'RBAC_ROLE_CI',
      ['list-all-artifacts', 'upload-artifact', 'delete-artifact'],
      ['list-devices', 'create-deployment', 'list-users'],
    ],
    [
      'RBAC_ROLE_DEPLOYMENTS_MANAGER',
      ['create-deployment', 'list-deployments', 'abort-deployment'],
      ['get-artifact-download', 'set-configuration', 'decommission-device', 'connect-device'],
    ],
    [
      'RBAC_ROLE_REMOTE_TERMINAL',
      ['connect-device', 'get-connection'],
      ['list-devices', 'set-configuration', 'create-deployment'],
    ],
    ['RBAC_ROLE_PERMIT_ALL', ['list-users', 'get-tenant-token', 'delete-artifact'], []],
  ])('permits as %s the operations %j and not %j', async (role, opened, closed) => {
    const email = `${role.toLowerCase()}@example.com`;
    const { token } = await loggedInUser(server, email, { roles: [role] });
    for (const id of opened) {
      expect((await knock(managementOperations[id], token)).status).not.toBe(403);
    }
    for (const id of closed)
      expect((await knock(managementOperations[id], token)).status).toBe(403);
  });
});
