import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import { acceptedDevice, authenticate, decide, newDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import {
  control,
  groupScope,
  loggedInUser,
  logIn,
  secondTenant,
  setTenantStatus,
  type TestTenant,
  userWithSets,
} from '../../testing/test-tenants.ts';

let server: TestServer;
let second: TestTenant;

beforeAll(async () => {
  server = await startTestServer();
  second = await secondTenant(server);
});

afterAll(() => server.close());

const described = {
  status: 'active',
  plan: 'enterprise',
  trial: false,
  addons: [
    { name: 'configure', enabled: true },
    { name: 'monitor', enabled: true },
    { name: 'troubleshoot', enabled: true },
  ],
  created_at: '2026-11-21T12:00:00.000Z',
};

describe('the tenant of a user', () => {
  it('is shown with its tenant token in version 1', async () => {
    const response = await server.call('get-own-tenant-v1', { token: second.token });
    expect(response.json()).toEqual({
      ...described,
      id: second.id,
      name: 'Second',
      tenant_token: second.tenantToken,
    });
  });

  it('is shown without its tenant token in version 2', async () => {
    const response = await server.call('get-own-tenant', { token: second.token });
    expect(response.json()).toEqual({ ...described, id: second.id, name: 'Second' });
    expect(response.text).not.toContain('token');
  });

  it("is the user's own tenant, not another one", async () => {
    const response = await server.call('get-own-tenant', { token: server.adminToken });
    expect(response.json()).toMatchObject({ name: 'Default' });
    expect(response.json().id).not.toBe(second.id);
  });

  it('is shown to every user, whatever the roles', async () => {
    const { token } = await loggedInUser(server, 'ci@example.com', { roles: ['RBAC_ROLE_CI'] });
    expect((await server.call('get-own-tenant', { token })).status).toBe(200);
    expect((await server.call('get-own-tenant-v1', { token })).status).toBe(200);
  });
});

describe('the tenant token', () => {
  it('is returned to users with full rights', async () => {
    const response = await server.call('get-tenant-token', { token: second.token });
    expect([response.status, response.json()]).toEqual([200, { tenant_token: second.tenantToken }]);
  });

  it('is returned to users who manage all devices', async () => {
    const { token } = await userWithSets(server, 'all@example.com', [{ name: 'ManageDevices' }]);
    expect((await server.call('get-tenant-token', { token })).status).toBe(200);
  });

  it.each<[string, Parameters<typeof userWithSets>[2]]>([
    ['only look at devices', [{ name: 'ReadDevices' }]],
    ['manage devices of a group', [{ name: 'ManageDevices', scope: groupScope('test') }]],
    ['manage users', [{ name: 'ManageUsers' }]],
    ['have an empty role', []],
  ])('returns 403 to users who %s', async (user, sets) => {
    const email = `${user.replaceAll(' ', '-')}@example.com`;
    const { token } = await userWithSets(server, email, sets);
    const response = await server.call('get-tenant-token', { token });
    expect([response.status, response.json().error]).toEqual([
      403,
      expect.stringContaining('ManageDevices or SuperUser for all devices'),
    ]);
    expect(response.text).not.toMatch(/[\w-]{43}/);
  });
});

/** Sends an authentication request of a device with the given tenant token. */
function ask(name: string, tenant_token: unknown, device = newDevice(name)) {
  const known = { id_data: device.idData, pubkey: device.publicKeyPem };
  return authenticate(server, device, { body: JSON.stringify({ ...known, tenant_token }) });
}

async function devicesOf(token: string): Promise<Device[]> {
  const call = { token, query: { per_page: '500' } };
  return (await server.call('list-devices', call)).json<Device[]>();
}

function macs(devices: readonly Device[]): unknown[] {
  return devices.map(({ identity_data: data }) => data.mac);
}

describe('a new device', () => {
  it('joins only the tenant whose token it sends', async () => {
    expect((await ask('of-second', second.tenantToken)).status).toBe(401);
    expect(macs(await devicesOf(second.token))).toContain('of-second');
    expect(macs(await devicesOf(server.adminToken))).not.toContain('of-second');
  });

  it.each([undefined, ''])('joins the first tenant with the tenant token %j', async (token) => {
    await ask(`of-first-${token}`, token);
    expect(macs(await devicesOf(server.adminToken))).toContain(`of-first-${token}`);
    expect(macs(await devicesOf(second.token))).not.toContain(`of-first-${token}`);
  });

  it('gets 401 for an unknown tenant token and is not recorded', async () => {
    const response = await ask('lost', `${second.tenantToken}x`);
    expect([response.status, response.json().error]).toEqual([
      401,
      expect.stringContaining('tenant_token'),
    ]);
    for (const token of [server.adminToken, second.token]) {
      expect(macs(await devicesOf(token))).not.toContain('lost');
    }
  });

  it('joins the only tenant of a server even with an unknown tenant token', async () => {
    const alone = await startTestServer();
    const device = newDevice('from elsewhere');
    const known = { id_data: device.idData, pubkey: device.publicKeyPem };
    const body = JSON.stringify({ ...known, tenant_token: 'of another server' });
    const authenticationError = async () =>
      (await authenticate(alone, device, { body })).json().error;
    const knownMacs = async () => {
      const response = await alone.call('list-devices', { token: alone.adminToken });
      return macs(response.json<Device[]>());
    };
    expect(await authenticationError()).toContain('not authorized');
    expect(await knownMacs()).toEqual(['from elsewhere']);
    const { id } = await secondTenant(alone);
    expect(await authenticationError()).toContain('tenant_token is unknown');
    await control(alone, 'DELETE', `/tenants/${id}`);
    expect(await authenticationError()).toContain('not authorized');
    await alone.close();
  });

  it('gets 400 for a tenant token that is not a string', async () => {
    expect((await ask('odd', 7)).status).toBe(400);
  });

  it('can have the same identity as a device of another tenant', async () => {
    const device = newDevice('twin');
    await ask('twin', undefined, device);
    await ask('twin', second.tenantToken, device);
    const ids = [await devicesOf(server.adminToken), await devicesOf(second.token)].map(
      (devices) => devices.find(({ identity_data: data }) => data.mac === 'twin')?.id,
    );
    expect(ids.every((id) => id !== undefined)).toBe(true);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('is unknown to users of another tenant', async () => {
    const { id, authSetId } = await acceptedDevice(server, 'private');
    const foreign = { token: second.token, parameters: { id, aid: authSetId } };
    const statuses = [
      (await server.call('get-device', foreign)).status,
      (await server.call('set-auth-set-status', { ...foreign, json: { status: 'rejected' } }))
        .status,
      (await server.call('decommission-device', foreign)).status,
    ];
    expect(statuses).toEqual([404, 404, 404]);
    expect(macs(await devicesOf(server.adminToken))).toContain('private');
  });
});

describe('a suspended tenant', () => {
  it('returns 401 to its users and 403 to its devices until it is active again', async () => {
    const third = await secondTenant(server, 'Third');
    const device = newDevice('shut-out');
    await ask('shut-out', third.tenantToken, device);
    const [found] = await devicesOf(third.token);
    const set = { id: found?.id ?? '', aid: found?.auth_sets[0]?.id ?? '' };
    const accepting = { token: third.token, parameters: set, json: { status: 'accepted' } };
    await server.call('set-auth-set-status', accepting);
    const { text: deviceToken } = await ask('shut-out', third.tenantToken, device);
    const { text: personal } = await server.call('create-personal-token', {
      token: third.token,
      json: { name: 'script' },
    });

    await setTenantStatus(server, third.id, 'suspended');
    const refused = await Promise.all([
      logIn(server, third.adminEmail, third.adminPassword),
      server.call('count-devices', { token: third.token }),
      server.call('count-devices', { token: personal }),
      server.call('get-configuration', { token: deviceToken }),
    ]);
    for (const response of refused) {
      expect([response.status, response.json().error]).toEqual([
        401,
        expect.stringContaining('Account suspended'),
      ]);
    }
    const authentication = await ask('shut-out', third.tenantToken, device);
    expect([authentication.status, authentication.json().error]).toEqual([
      403,
      expect.stringContaining('Account suspended'),
    ]);
    expect((await ask('new-there', third.tenantToken)).status).toBe(403);

    await setTenantStatus(server, third.id, 'active');
    expect((await logIn(server, third.adminEmail, third.adminPassword)).status).toBe(200);
    expect((await ask('shut-out', third.tenantToken, device)).status).toBe(200);
    expect((await server.call('get-configuration', { token: deviceToken })).status).toBe(200);
    expect(macs(await devicesOf(personal))).toEqual(['shut-out']);
  });

  it('is not revealed by a login with a wrong password', async () => {
    await setTenantStatus(server, second.id, 'suspended');
    const response = await logIn(server, second.adminEmail, 'wrong');
    expect(response.json().error).not.toContain('suspended');
    await setTenantStatus(server, second.id, 'active');
  });

  it('does not affect other tenants', async () => {
    const device = await acceptedDevice(server, 'bystander');
    await setTenantStatus(server, second.id, 'suspended');
    expect((await server.call('count-devices', { token: server.adminToken })).status).toBe(200);
    expect((await server.call('get-configuration', { token: device.token })).status).toBe(200);
    expect((await decide(server, device, 'accepted')).status).toBe(204);
    await setTenantStatus(server, second.id, 'active');
  });
});
