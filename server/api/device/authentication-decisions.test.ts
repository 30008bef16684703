import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import {
  type AcceptedDevice,
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

async function deviceOf({ idData }: TestDevice, on = server): Promise<Device> {
  const { mac } = JSON.parse(idData) as { mac: string };
  const device = (await knownDevices(on)).find(({ identity_data: data }) => data.mac === mac);
  if (!device) throw new Error(`there is no device ${mac}`);
  return device;
}

/** Returns the authentication sets of the device in order of creation. */
async function setsOf(device: TestDevice, on = server) {
  return (await deviceOf(device, on)).auth_sets;
}

async function statusesOf(device: TestDevice, on = server): Promise<readonly string[]> {
  return (await setsOf(device, on)).map(({ status }) => status);
}

async function decideSet(device: TestDevice, index: number, status: string): Promise<TestResponse> {
  const { id, auth_sets: sets } = await deviceOf(device);
  return decide(server, { id, authSetId: sets[index]?.id ?? 'none' }, status);
}

function preauthorize(device: TestDevice, on = server): Promise<TestResponse> {
  const json = { identity_data: JSON.parse(device.idData), pubkey: device.publicKeyPem };
  return on.call('preauthorize-device', { token: on.adminToken, json });
}

/** Returns a device with the same identity and a new key. */
function withNewKey(device: TestDevice): TestDevice {
  return { ...newDevice('unused'), idData: device.idData };
}

function expectRefusal(response: TestResponse, reason: string): void {
  expect(response.status).toBe(401);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.json()).toEqual({
    error: `device not authorized: ${reason}`,
    request_id: response.headers.get('x-svc-requestid'),
  });
}

const isNew = 'the device is new; it is recorded as pending until a user accepts it';
const waits = 'the device is pending; a user must accept it';
const keyIsNew =
  'the key is new for this device; it is recorded as pending until a user accepts it';
const isAcceptedNow =
  'the first request is always refused; send the request again: the server has accepted the device automatically';

describe('the first contact of a device', () => {
  it('returns 401 and records the device as pending', async () => {
    const device = newDevice('first');
    expectRefusal(await authenticate(server, device), isNew);
    const known = await deviceOf(device);
    expect(known).toMatchObject({ status: 'pending', decommissioning: false });
    expect(known).not.toHaveProperty('check_in_time');
    expect(known.auth_sets).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        identity_data: { mac: 'first' },
        pubkey: device.publicKeyPem,
        status: 'pending',
        ts: new Date(server.clock.now()).toISOString(),
      },
    ]);
  });

  it('is logged in the audit log as a creation by the device itself', async () => {
    const device = newDevice('audited');
    await authenticate(server, device);
    const { id } = await deviceOf(device);
    const call = { token: server.adminToken, query: { object_id: id } };
    const entries = (await server.call('list-audit-logs', call)).json<AuditLog[]>();
    expect(entries).toMatchObject([
      {
        action: 'create',
        actor: { id, type: 'device', identity_data: '{"mac":"audited"}' },
        object: { id, type: 'device', device: { id, identity_data: '{"mac":"audited"}' } },
      },
    ]);
  });

  it('is followed by repeated 401 responses without another authentication set', async () => {
    const device = newDevice('waiting');
    await authenticate(server, device);
    for (let time = 0; time < 3; time += 1) {
      expectRefusal(await authenticate(server, device), waits);
    }
    expect(await statusesOf(device)).toEqual(['pending']);
  });
});

describe("a user's decision on an authentication set", () => {
  it('applies from the next authentication request on', async () => {
    const device = newDevice('decided');
    await authenticate(server, device);
    for (const [status, expected] of [
      ['rejected', 401],
      ['accepted', 200],
      ['pending', 401],
      ['accepted', 200],
      ['rejected', 401],
    ] as const) {
      expect((await decideSet(device, 0, status)).status).toBe(204);
      expect((await authenticate(server, device)).status).toBe(expected);
      expect(await statusesOf(device)).toEqual([status]);
    }
  });

  it('is named in the refusal if it rejects the device', async () => {
    const device = newDevice('rejected');
    await authenticate(server, device);
    await decideSet(device, 0, 'rejected');
    expectRefusal(await authenticate(server, device), 'the device has been rejected');
  });

  it('outlasts the next request if it rejects the device', async () => {
    const device = newDevice('unchanged');
    await authenticate(server, device);
    await decideSet(device, 0, 'rejected');
    await authenticate(server, device);
    expect(await statusesOf(device)).toEqual(['rejected']);
  });
});

describe('a decommissioned device', () => {
  it('loses its token, and is recorded as new at its next request', async () => {
    const device = await acceptedDevice(server, 'gone');
    const call = { token: server.adminToken, parameters: { id: device.id } };
    expect((await server.call('decommission-device', call)).status).toBe(204);
    const response = await server.call('get-configuration', { token: device.token });
    expect(response.status).toBe(401);
    expectRefusal(await authenticate(server, device), isNew);
    expect((await deviceOf(device)).id).not.toBe(device.id);
    expect(await statusesOf(device)).toEqual(['pending']);
  });
});

describe('a preauthorized device', () => {
  it('is accepted by its first request', async () => {
    const device = newDevice('expected');
    expect((await preauthorize(device)).status).toBe(201);
    expect(await statusesOf(device)).toEqual(['preauthorized']);
    expect((await authenticate(server, device)).status).toBe(200);
    expect(await statusesOf(device)).toEqual(['accepted']);
    expect((await authenticate(server, device)).status).toBe(200);
  });

  it('is accepted if its id_data differs only in JSON spelling', async () => {
    const device = newDevice('written');
    const identity_data = { mac: 'written', sn: [1, { b: 1, a: 2 }] };
    const json = { identity_data, pubkey: device.publicKeyPem };
    await server.call('preauthorize-device', { token: server.adminToken, json });
    const idData = ' {"sn":[1.0, {"a":2,"b":1}], "mac":"written"}';
    expect((await authenticate(server, { ...device, idData })).status).toBe(200);
  });

  it('gets 401 with a wrong signature and with another key', async () => {
    const device = newDevice('imitated');
    await preauthorize(device);
    const response = await authenticate(server, device, { signature: 'AAAA' });
    expect(response.json().error).toBe('signature verification failed');
    expectRefusal(await authenticate(server, withNewKey(device)), keyIsNew);
    expect(await statusesOf(device)).toEqual(['preauthorized', 'pending']);
  });

  it('replaces the accepted key of the same device at its first request', async () => {
    const device = await acceptedDevice(server, 'replaced');
    const next = withNewKey(device);
    const identity_data = JSON.parse(device.idData);
    const json = { identity_data, pubkey: next.publicKeyPem, force: true };
    await server.call('preauthorize-device', { token: server.adminToken, json });
    expect((await authenticate(server, device)).status).toBe(200);
    expect((await authenticate(server, next)).status).toBe(200);
    expectRefusal(await authenticate(server, device), 'the device has been rejected');
    expect(await statusesOf(device)).toEqual(['rejected', 'accepted']);
  });
});

/** Returns the status of a call with the device's token. */
async function works({ token }: AcceptedDevice): Promise<number> {
  return (await server.call('get-configuration', { token })).status;
}

describe('a known device with a new key', () => {
  it('gets 401 until the key is accepted, while the old key still works', async () => {
    const device = await acceptedDevice(server, 'rotating');
    const next = withNewKey(device);
    expectRefusal(await authenticate(server, next), keyIsNew);
    expectRefusal(await authenticate(server, next), waits);
    expect(await statusesOf(device)).toEqual(['accepted', 'pending']);
    expect((await deviceOf(device)).status).toBe('accepted');
    expect(await works(device)).toBe(200);
    expect((await authenticate(server, device)).status).toBe(200);
  });

  it('can use only the new key once a user accepts it', async () => {
    const device = await acceptedDevice(server, 'rotated');
    const next = withNewKey(device);
    await authenticate(server, next);
    expect((await decideSet(device, 1, 'accepted')).status).toBe(204);
    expect(await statusesOf(device)).toEqual(['rejected', 'accepted']);
    expect(await works(device)).toBe(401);
    expectRefusal(await authenticate(server, device), 'the device has been rejected');
    const { text: token } = await authenticate(server, next);
    const authSetId = (await setsOf(device))[1]?.id;
    expect(await works({ ...device, token })).toBe(200);
    expect(
      JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()),
    ).toMatchObject({ sub: device.id, jti: authSetId });
  });

  it('keeps the old key if the new one is rejected', async () => {
    const device = await acceptedDevice(server, 'kept');
    await authenticate(server, withNewKey(device));
    await decideSet(device, 1, 'rejected');
    expect(await statusesOf(device)).toEqual(['accepted', 'rejected']);
    expect(await works(device)).toBe(200);
  });
});

describe('a device identity that sends many new keys', () => {
  it('gets 401 and is not recorded beyond 100 keys, and its first key still works', async () => {
    const device = await acceptedDevice(server, 'many-keys');
    for (let count = 1; count < 100; count += 1) await authenticate(server, withNewKey(device));
    const beyond = await authenticate(server, withNewKey(device));
    expect([beyond.status, beyond.text]).toEqual([401, expect.stringContaining('too many keys')]);
    expect(await statusesOf(device)).toHaveLength(100);
    expect(await works(device)).toBe(200);
  });
});

describe('a server that accepts devices automatically', () => {
  it('returns 401 to the first request and 200 to the second', async () => {
    const automatic = await startTestServer({ autoAccept: true });
    try {
      const device = newDevice('automatic');
      expectRefusal(await authenticate(automatic, device), isAcceptedNow);
      expect(await statusesOf(device, automatic)).toEqual(['accepted']);
      expect((await authenticate(automatic, device)).status).toBe(200);
      const next = withNewKey(device);
      expectRefusal(await authenticate(automatic, next), isAcceptedNow);
      expect(await statusesOf(device, automatic)).toEqual(['rejected', 'accepted']);
      expect((await authenticate(automatic, next)).status).toBe(200);
    } finally {
      await automatic.close();
    }
  });

  it("does not override a user's rejection or accept a bad signature", async () => {
    const automatic = await startTestServer({ autoAccept: true });
    try {
      const device = await newcomer(automatic, 'overruled');
      const { id, auth_sets: sets } = await deviceOf(device, automatic);
      await decide(automatic, { id, authSetId: sets[0]?.id ?? 'none' }, 'rejected');
      expect((await authenticate(automatic, device)).status).toBe(401);
      await authenticate(automatic, newDevice('forged'), { signature: 'AAAA' });
      expect(await knownDevices(automatic)).toHaveLength(1);
    } finally {
      await automatic.close();
    }
  });
});

async function newcomer(on: TestServer, name: string): Promise<TestDevice> {
  const device = newDevice(name);
  await authenticate(on, device);
  return device;
}
