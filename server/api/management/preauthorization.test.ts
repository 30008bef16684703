import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import {
  acceptedDevice,
  authenticate,
  decide,
  knownDevices,
  newDevice,
  type TestDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

function preauthorize(device: TestDevice, fields: Readonly<Record<string, unknown>> = {}) {
  const identity_data = JSON.parse(device.idData);
  const json = { identity_data, pubkey: device.publicKeyPem, ...fields };
  return server.call('preauthorize-device', { token: server.adminToken, json });
}

async function setsOf(name: string): Promise<readonly string[]> {
  const known = await knownDevices(server);
  const device = known.find(({ identity_data: data }) => data.mac === name);
  return device?.auth_sets.map(({ status }) => status) ?? [];
}

function idIn(response: TestResponse): string {
  return response.headers.get('location')?.split('/').at(-1) ?? 'none';
}

describe('the preauthorization of a new device', () => {
  it('returns 201 without a body and the Location of the device', async () => {
    const device = newDevice('new');
    const response = await preauthorize(device);
    expect([response.status, response.text]).toEqual([201, '']);
    const parameters = { id: idIn(response) };
    const deviceResponse = await server.call('get-device', {
      token: server.adminToken,
      parameters,
    });
    expect(deviceResponse.json()).toMatchObject({
      identity_data: { mac: 'new' },
      status: 'preauthorized',
      auth_sets: [{ status: 'preauthorized', pubkey: device.publicKeyPem }],
    });
  });

  it('is in the audit log as a creation by the user', async () => {
    const id = idIn(await preauthorize(newDevice('audited')));
    const call = { token: server.adminToken, query: { object_id: id } };
    const entries = (await server.call('list-audit-logs', call)).json<AuditLog[]>();
    expect(entries).toMatchObject([{ action: 'create', actor: { type: 'user' } }]);
  });

  it('recognizes the key in spite of other line ends', async () => {
    const device = newDevice('form');
    await preauthorize(device, { pubkey: device.publicKeyPem.replaceAll('\n', '\r\n') });
    expect((await authenticate(server, device)).status).toBe(200);
  });

  it('accepts identity members of any name', async () => {
    const device = { ...newDevice('x'), idData: '{"__proto__":"a","constructor":"b"}' };
    const pubkey = JSON.stringify(device.publicKeyPem);
    const body = `{"identity_data":${device.idData},"pubkey":${pubkey}}`;
    const headers = { 'Content-Type': 'application/json' };
    const call = { token: server.adminToken, headers, body };
    expect((await server.call('preauthorize-device', call)).status).toBe(201);
    expect((await authenticate(server, device)).status).toBe(200);
  });

  it('accepts identity values of all JSON types', async () => {
    const identity_data = { mac: 'kinds', list: [1, 'a'], object: { a: null }, yes: true };
    expect((await preauthorize(newDevice('kinds'), { identity_data })).status).toBe(201);
  });
});

describe('the preauthorization of a known device', () => {
  it('returns 409 with the device and a hint at force: true', async () => {
    const device = await acceptedDevice(server, 'known');
    const response = await preauthorize(newDevice('known'));
    expect(response.status).toBe(409);
    const body = response.json<Device & { error: string; request_id: string }>();
    expect(body).toMatchObject({ id: device.id, status: 'accepted', auth_sets: [{}] });
    expect(body.error).toContain('force: true');
    expect(body.request_id).toBe(response.headers.get('x-svc-requestid'));
    expect(await setsOf('known')).toEqual(['accepted']);
  });

  it('returns 409 for the same identity written differently, and with force: false', async () => {
    await preauthorize(newDevice('same'), { identity_data: { mac: 'same', b: 1, a: 2 } });
    const turned = { a: 2, b: 1.0, mac: 'same' };
    expect((await preauthorize(newDevice('x'), { identity_data: turned })).status).toBe(409);
    const fields = { identity_data: turned, force: false };
    expect((await preauthorize(newDevice('x'), fields)).status).toBe(409);
  });

  it('adds the key with force: true, and the accepted key still works', async () => {
    const device = await acceptedDevice(server, 'forced');
    const response = await preauthorize(newDevice('forced'), { force: true });
    expect([response.status, idIn(response)]).toEqual([201, device.id]);
    expect(await setsOf('forced')).toEqual(['accepted', 'preauthorized']);
    expect((await authenticate(server, device)).status).toBe(200);
  });

  it.each(['pending', 'rejected'])(
    'replaces the status of its key with force: true: %s',
    async (status) => {
      const name = `overruled ${status}`;
      const device = newDevice(name);
      await authenticate(server, device);
      if (status === 'rejected') await rejectFirstSet(name);
      await preauthorize(device, { force: true });
      expect(await setsOf(name)).toEqual(['preauthorized']);
      expect((await authenticate(server, device)).status).toBe(200);
    },
  );
});

async function rejectFirstSet(name: string): Promise<void> {
  const known = await knownDevices(server);
  const device = known.find(({ identity_data: data }) => data.mac === name);
  const wanted = { id: device?.id ?? '', authSetId: device?.auth_sets[0]?.id ?? '' };
  await decide(server, wanted, 'rejected');
}

describe('a malformed preauthorization', () => {
  const spki = { type: 'spki', format: 'pem' } as const;
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey.export(spki);

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['no identity', { identity_data: undefined }, 'identity_data: is required'],
    ['an identity as text', { identity_data: '{"mac":"x"}' }, 'identity_data: must be an object'],
    ['an identity as a list', { identity_data: ['x'] }, 'identity_data: must be an object'],
    ['no key', { pubkey: undefined }, 'pubkey: is required'],
    ['an empty key', { pubkey: '' }, 'pubkey: must not be empty'],
    ['an invalid key', { pubkey: 'x' }, 'pubkey: is not a single PEM block'],
    ['a key of another curve', { pubkey: curve }, 'pubkey: has an unsupported algorithm'],
    ['a force that is not a boolean', { force: 'yes' }, 'force: must be a boolean, not "yes"'],
    ['an identity too deep', { identity_data: deep(33) }, 'identity_data: must not be nested'],
  ])('returns 400 for %s, and nothing is recorded', async (_, fields, problem) => {
    const countBefore = (await knownDevices(server)).length;
    const response = await preauthorize(newDevice('malformed'), fields);
    expect(response.status).toBe(400);
    expect(String(response.json().error).startsWith(`body: ${problem}`)).toBe(true);
    expect(await knownDevices(server)).toHaveLength(countBefore);
  });
});

function deep(levels: number): object {
  let data = {};
  for (let level = 1; level < levels; level += 1) data = { a: data };
  return data;
}
