import { afterEach, describe, expect, it } from 'vitest';
import {
  acceptedDevice,
  authenticate,
  decide,
  knownDevices,
  newDevice,
  type TestDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control, secondTenant } from '../../testing/test-tenants.ts';

let server: TestServer;

afterEach(() => server.close());

async function start(deviceLimit?: number, autoAccept = false): Promise<void> {
  server = await startTestServer({ autoAccept, ...(deviceLimit !== undefined && { deviceLimit }) });
}

async function shownLimit(): Promise<unknown> {
  return (await server.call('get-device-limit', { token: server.adminToken })).json();
}

/** Returns the device's authentication set as users see it, after a first request. */
async function metSet(device: TestDevice) {
  await authenticate(server, device);
  const known = (await knownDevices(server)).find(({ auth_sets: sets }) =>
    sets.some(({ pubkey }) => pubkey === device.publicKeyPem),
  );
  const set = known?.auth_sets.find(({ pubkey }) => pubkey === device.publicKeyPem);
  return { id: known?.id ?? '', authSetId: set?.id ?? '', status: set?.status };
}

async function preauthorize(device: TestDevice): Promise<void> {
  const identity_data = JSON.parse(device.idData);
  const json = { identity_data, pubkey: device.publicKeyPem, force: true };
  const response = await server.call('preauthorize-device', { token: server.adminToken, json });
  expect(response.status).toBe(201);
}

describe('the device limit', () => {
  it.each([
    [undefined, -1],
    [-1, -1],
    [0, 0],
    [250, 250],
  ])('is configured as %s and shown as %s by both operations', async (given, limit) => {
    await start(given);
    expect(await shownLimit()).toEqual({ limit });
    const parameters = { name: 'max_devices' };
    const call = { token: server.adminToken, parameters };
    expect((await server.call('get-limit-by-name', call)).json()).toEqual({ limit });
  });

  it.each(['max', 'Max_Devices', '', 'max_devices '])(
    'returns 400, or 404 for an empty name, for the unknown limit name %j',
    async (name) => {
      await start();
      const call = { token: server.adminToken, parameters: { name } };
      const response = await server.call('get-limit-by-name', call);
      expect(response.status).toBe(name === '' ? 404 : 400);
    },
  );

  it('has a permanent operation, and a deprecated one by limit name', async () => {
    await start();
    const call = { token: server.adminToken };
    const current = await server.call('get-device-limit', call);
    expect(current.headers.has('deprecation')).toBe(false);
    const named = { ...call, parameters: { name: 'max_devices' } };
    const former = await server.call('get-limit-by-name', named);
    expect(former.headers.get('deprecation')).toMatch(/^@\d+$/);
    server.clock.advance(Date.parse('2027-08-25T00:00:00Z') - server.clock.now());
    const { text: token } = await logIn();
    expect((await server.call('get-device-limit', { token })).status).toBe(200);
    expect((await server.call('get-limit-by-name', { ...named, token })).status).toBe(410);
  });

  function logIn() {
    const credentials = `${server.adminEmail}:${server.adminPassword}`;
    const Authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
    return server.call('login', { headers: { Authorization } });
  }
});

describe('a server with a device limit of one', () => {
  it('returns 422 for the second device until the first is rejected', async () => {
    await start(1);
    const first = await acceptedDevice(server, 'first');
    const second = newDevice('second');
    const set = await metSet(second);
    const response = await decide(server, set, 'accepted');
    expect([response.status, response.json().error]).toEqual([
      422,
      expect.stringContaining('maximum number of accepted devices reached'),
    ]);
    expect((await metSet(second)).status).toBe('pending');
    await decide(server, first, 'rejected');
    expect((await decide(server, set, 'accepted')).status).toBe(204);
    expect((await authenticate(server, second)).status).toBe(200);
    expect((await decide(server, first, 'accepted')).status).toBe(422);
  });

  it.each([
    ['decommissioning', 'decommission-device'],
    ['deleting its set', 'delete-auth-set'],
  ] as const)('accepts another device after %s', async (_, operation) => {
    await start(1);
    const first = await acceptedDevice(server, 'first');
    const parameters = { id: first.id, aid: first.authSetId };
    await server.call(operation, { token: server.adminToken, parameters });
    expect((await decide(server, await metSet(newDevice('second')), 'accepted')).status).toBe(204);
  });

  it('does not count another key of an accepted device', async () => {
    await start(1);
    const first = await acceptedDevice(server, 'rotated');
    const rotated = newDevice('rotated');
    expect((await decide(server, await metSet(rotated), 'accepted')).status).toBe(204);
    expect((await authenticate(server, rotated)).status).toBe(200);
    const third = newDevice('rotated');
    await preauthorize(third);
    expect((await authenticate(server, third)).status).toBe(200);
    expect((await decide(server, first, 'accepted')).status).toBe(204);
  });

  it('accepts one preauthorized device and returns 401 to the next', async () => {
    await start(1);
    const [one, other] = [newDevice('one'), newDevice('other')];
    await preauthorize(one);
    await preauthorize(other);
    expect((await authenticate(server, one)).status).toBe(200);
    const response = await authenticate(server, other);
    expect([response.status, response.json().error]).toEqual([
      401,
      expect.stringContaining('maximum number of accepted devices'),
    ]);
    expect((await metSet(other)).status).toBe('preauthorized');
    await decide(server, await metSet(one), 'rejected');
    expect((await authenticate(server, other)).status).toBe(200);
  });

  it('accepts devices automatically only up to the limit', async () => {
    await start(1, true);
    const [one, other] = [newDevice('one'), newDevice('other')];
    for (const device of [one, other]) await authenticate(server, device);
    expect((await authenticate(server, one)).status).toBe(200);
    const response = await authenticate(server, other);
    expect([response.status, response.json().error]).toEqual([
      401,
      expect.stringContaining('is pending'),
    ]);
    expect((await metSet(other)).status).toBe('pending');
  });
});

describe('a server with a device limit of zero', () => {
  it('accepts no device by any means', async () => {
    await start(0, true);
    const device = newDevice('none');
    const set = await metSet(device);
    expect((await decide(server, set, 'accepted')).status).toBe(422);
    await preauthorize(device);
    expect((await authenticate(server, device)).status).toBe(401);
    expect(await shownLimit()).toEqual({ limit: 0 });
  });
});

describe('the device limit of a single tenant', () => {
  const setLimit = (tenantId: string, json: unknown) =>
    control(server, 'PUT', `/tenants/${tenantId}/device-limit`, json);

  async function firstTenant(): Promise<string> {
    const { text } = await control(server, 'GET', '/tenants');
    return (JSON.parse(text) as { id: string }[])[0]?.id ?? '';
  }

  it("is set on the control listener and overrides the server's limit", async () => {
    await start(1);
    const second = await secondTenant(server);
    const response = await setLimit(second.id, { limit: 0 });
    expect([response.status, JSON.parse(response.text).id]).toEqual([200, second.id]);
    const ownLimit = await server.call('get-device-limit', { token: second.token });
    expect([ownLimit.json(), await shownLimit()]).toEqual([{ limit: 0 }, { limit: 1 }]);
    await setLimit(await firstTenant(), { limit: -1 });
    for (const name of ['a', 'b', 'c']) await acceptedDevice(server, name);
    expect(await shownLimit()).toEqual({ limit: -1 });
  });

  it.each([{}, { limit: -2 }, { limit: 1.5 }, { limit: '1' }, { limit: null }])(
    'returns 400 for %j and stays unchanged',
    async (json) => {
      await start(1);
      const { status, text } = await setLimit(await firstTenant(), json);
      expect([status, text]).toEqual([400, expect.stringContaining('body: limit')]);
      expect(await shownLimit()).toEqual({ limit: 1 });
    },
  );

  it('returns 404 for an unknown tenant', async () => {
    await start();
    expect((await setLimit('nobody', { limit: 1 })).status).toBe(404);
  });
});
