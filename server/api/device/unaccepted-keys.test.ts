/**
 * These tests cover what an unauthenticated caller can store, and the limit of keys that were never
 * accepted.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import {
  authenticate,
  decide,
  knownDevices,
  newDevice,
  type TestDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { secondTenant } from '../../testing/test-tenants.ts';

let server: TestServer;

afterEach(() => server.close());

/** Sends first contacts of new devices; returns the statuses of the responses. */
async function contacts(count: number, name = 'd', members: object = {}): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const idData = JSON.stringify({ mac: `${name}-${index}`, ...members });
    statuses.push((await authenticate(server, { ...newDevice(name), idData })).status);
  }
  return statuses;
}

/** Decommissions a device. */
function decommission(id: string) {
  return server.call('decommission-device', { token: server.adminToken, parameters: { id } });
}

async function known(mac: string) {
  const all = await knownDevices(server);
  const device = all.find(({ identity_data: data }) => data.mac === mac);
  return { id: device?.id ?? '', authSetId: device?.auth_sets[0]?.id ?? '' };
}

describe('devices that wait to be accepted', () => {
  it('get 429 with Retry-After beyond the limit and are not recorded', async () => {
    server = await startTestServer({ unacceptedKeysMax: 3 });
    expect(await contacts(3)).toEqual([401, 401, 401]);
    const refused = await authenticate(server, newDevice('late'));
    expect([refused.status, refused.headers.get('retry-after'), refused.json().error]).toEqual([
      429,
      '60',
      'too many keys were never accepted; a user must accept or decommission some of their devices; try again in 60 s',
    ]);
    expect(await knownDevices(server)).toHaveLength(3);
    const logs = await server.call('list-audit-logs', { token: server.adminToken });
    expect(logs.json<AuditLog[]>()).toHaveLength(3);
  });

  it('get 401 beyond the limit if known', async () => {
    server = await startTestServer({ unacceptedKeysMax: 1 });
    const device = newDevice('first');
    expect((await authenticate(server, device)).status).toBe(401);
    expect((await authenticate(server, device)).status).toBe(401);
  });

  it('have a limit of their own in each tenant', async () => {
    server = await startTestServer({ unacceptedKeysMax: 1 });
    const { tenantToken } = await secondTenant(server);
    expect((await authenticate(server, newDevice('first'))).status).toBe(401);
    const otherDevice = newDevice('other');
    const ask = (more: object) =>
      authenticate(server, otherDevice, {
        body: JSON.stringify({
          id_data: otherDevice.idData,
          pubkey: otherDevice.publicKeyPem,
          ...more,
        }),
      });
    expect((await ask({})).status).toBe(429);
    expect((await ask({ tenant_token: tenantToken })).status).toBe(401);
  });

  it('free their place when accepted, dismissed or decommissioned, not when rejected', async () => {
    server = await startTestServer({ unacceptedKeysMax: 2 });
    expect(await contacts(3)).toEqual([401, 401, 429]);
    await decide(server, await known('d-0'), 'rejected');
    expect(await contacts(1, 'a')).toEqual([429]);
    await decide(server, await known('d-0'), 'accepted');
    expect(await contacts(2, 'b')).toEqual([401, 429]);
    await decommission((await known('d-1')).id);
    expect(await contacts(2, 'c')).toEqual([401, 429]);
    const { id, authSetId: aid } = await known('b-0');
    const dismissed = { token: server.adminToken, parameters: { id, aid } };
    expect((await server.call('delete-auth-set', dismissed)).status).toBe(204);
    expect(await contacts(2, 'e')).toEqual([401, 429]);
  });

  it('count once per key, without keys that were accepted before', async () => {
    server = await startTestServer({ unacceptedKeysMax: 1 });
    const keys = [newDevice('one'), newDevice('one'), newDevice('one')] as const;
    for (const device of keys) {
      expect((await authenticate(server, device)).status).toBe(401);
      const sets = (await knownDevices(server))[0];
      const set = sets?.auth_sets.find(({ pubkey }) => pubkey === device.publicKeyPem);
      await decide(server, { id: sets?.id ?? '', authSetId: set?.id ?? '' }, 'accepted');
    }
    expect((await authenticate(server, newDevice('one'))).status).toBe(401);
    expect((await authenticate(server, newDevice('one'))).status).toBe(429);
  });

  it('do not count if the server or a user accepted them before', async () => {
    server = await startTestServer({ unacceptedKeysMax: 1, autoAccept: true, deviceLimit: 4 });
    const preauthorized = newDevice('preauthorized');
    const json = { identity_data: { mac: 'preauthorized' }, pubkey: preauthorized.publicKeyPem };
    await server.call('preauthorize-device', { token: server.adminToken, json });
    expect(await contacts(5)).toEqual([401, 401, 401, 401, 401]);
    expect(await contacts(1, 'beyond')).toEqual([429]);
    await decommission((await known('d-0')).id);
    expect((await authenticate(server, preauthorized)).status).toBe(200);
  });

  it('use several places if their identity is large', async () => {
    server = await startTestServer({ unacceptedKeysMax: 8 });
    const large = { note: 'x'.repeat(3800) };
    expect(await contacts(3, 'large', large)).toEqual([401, 401, 429]);
    expect(await contacts(2, 'small')).toEqual([401, 401]);
  });
});

describe('the length of a string in an authentication request', () => {
  it.each([
    ['id_data', JSON.stringify({ mac: 'x'.repeat(4097) }), 'must have at most 4096 bytes'],
    ['external_id', 'x'.repeat(257), 'must have at most 256 characters'],
    ['tenant_token', 'x'.repeat(4097), 'must have at most 4096 characters'],
  ])('is limited: %s', async (field, value, problem) => {
    server = await startTestServer();
    const device = newDevice('long');
    const body = { id_data: device.idData, pubkey: device.publicKeyPem, [field]: value };
    const response = await authenticate(server, device, { body: JSON.stringify(body) });
    expect([response.status, response.json().error]).toEqual([400, `body: ${field}: ${problem}`]);
    expect(await knownDevices(server)).toEqual([]);
  });
});

describe('the audit log of a pending device', () => {
  it('shows the identity in every entry, even after the device is decommissioned', async () => {
    server = await startTestServer();
    const device: TestDevice = newDevice('audited');
    await authenticate(server, device);
    const found = await known('audited');
    await decide(server, found, 'accepted');
    await decommission(found.id);
    await authenticate(server, device);
    const call = { token: server.adminToken, query: { object_id: found.id } };
    const entries = (await server.call('list-audit-logs', call)).json<AuditLog[]>();
    expect(entries.map(({ action }) => action)).toEqual(['decommission', 'update', 'create']);
    for (const { object } of entries) {
      expect(object.device).toEqual({ id: found.id, identity_data: device.idData });
    }
    expect(entries.at(-1)?.actor).toEqual({
      id: found.id,
      type: 'device',
      identity_data: device.idData,
    });
  });
});
