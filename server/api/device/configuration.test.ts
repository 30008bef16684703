import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationView } from '../../../fixtures/contract/management/configuration.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { type Reply, startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

beforeEach(async () => {
  deviceCount += 1;
  device = await acceptedDevice(server, `configuration-${deviceCount}`);
});

function put(json: unknown): Promise<Reply> {
  return server.call('put-configuration', { token: device.token, json });
}

async function read(of = device): Promise<unknown> {
  const reply = await server.call('get-configuration', { token: of.token });
  return reply.status === 200 ? reply.json() : reply.status;
}

function set(json: unknown, id = device.id): Promise<Reply> {
  const call = { token: server.adminToken, parameters: { id }, json };
  return server.call('set-configuration', call);
}

async function shown(): Promise<ConfigurationView> {
  const call = { token: server.adminToken, parameters: { id: device.id } };
  return (await server.call('show-configuration', call)).json<ConfigurationView>();
}

/** Settings `key-0` and so on. */
function settings(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, `${at}`]));
}

const now = () => new Date(server.clock.now()).toISOString();

describe('the settings as the device sees them', () => {
  it('are {} before there are any', async () => {
    expect(await read()).toEqual({});
  });

  it('are what the device has put, with 204 and no body', async () => {
    const reply = await put({ timezone: 'UTC', 'key.with$signs/ü': 'wért 😀\n' });
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(await read()).toEqual({ timezone: 'UTC', 'key.with$signs/ü': 'wért 😀\n' });
  });

  it('are merged: a named key changes, the others stay', async () => {
    await put({ timezone: 'UTC', locale: 'C' });
    await put({ timezone: 'CET', mode: 'fast' });
    expect(await read()).toEqual({ timezone: 'CET', locale: 'C', mode: 'fast' });
  });

  it('lose a key whose value is empty, known or not', async () => {
    await put({ timezone: 'UTC', locale: 'C' });
    expect((await put({ timezone: '', unknown: '' })).status).toBe(204);
    expect(await read()).toEqual({ locale: 'C' });
  });

  it('stay as they are with an empty object', async () => {
    await put({ timezone: 'UTC' });
    expect((await put({})).status).toBe(204);
    expect(await read()).toEqual({ timezone: 'UTC' });
  });

  it.each([undefined, 'application/json', 'text/plain'])(
    'stay as they are without a body (Content-Type %s): 204',
    async (type) => {
      await put({ timezone: 'UTC' });
      const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
      const call = { token: device.token, headers };
      expect((await server.call('put-configuration', call)).status).toBe(204);
      expect(await read()).toEqual({ timezone: 'UTC' });
    },
  );

  it('keep keys that are names of the language', async () => {
    const json = JSON.parse('{"toString":"a","hasOwnProperty":"b"}') as unknown;
    await put(json);
    expect(await read()).toEqual(json);
  });

  it('belong to the device alone', async () => {
    await put({ timezone: 'UTC' });
    expect(await read(await acceptedDevice(server, `other-${deviceCount}`))).toEqual({});
  });

  it('go with a decommissioned device: the same identity begins anew', async () => {
    await put({ timezone: 'UTC' });
    const call = { token: server.adminToken, parameters: { id: device.id } };
    await server.call('decommission-device', call);
    const again = await acceptedDevice(server, `configuration-${deviceCount}`);
    expect([await read(), await read(again)]).toEqual([401, {}]);
  });
});

describe('settings that are refused with 400 leave all as it was', () => {
  const longest = 'x'.repeat(4096);

  it.each([
    ['a number', { good: 'x', bad: 1 }],
    ['a boolean', { good: 'x', bad: true }],
    ['null', { good: 'x', bad: null }],
    ['an object', { good: 'x', bad: {} }],
    ['an array', { good: 'x', bad: ['a'] }],
    ['an empty name', { good: 'x', '': 'x' }],
    ['a name that is too long', { good: 'x', [`${longest}x`]: 'x' }],
    ['a value that is too long', { good: 'x', bad: `${longest}x` }],
    ['101 keys', settings(101)],
    ['an array in place of the object', ['a']],
    ['an empty array in place of the object', []],
    ['a text in place of the object', 'timezone'],
    ['a number in place of the object', 7],
    ['null in place of the object', null],
  ])('%s', async (_, json) => {
    await put({ timezone: 'UTC' });
    for (const reply of [await put(json), await set(json)]) {
      expect([reply.status, reply.json().error]).toEqual([400, expect.stringMatching(/^body: /)]);
    }
    const view = await shown();
    const both = [view.configured, view.reported];
    expect(both).toEqual([{ timezone: 'UTC' }, { timezone: 'UTC' }]);
  });

  it.each(['{', '{"a":"b"', '"', 'timezone=UTC'])('the text %j', async (body) => {
    const headers = { 'Content-Type': 'application/json' };
    const call = { token: device.token, headers, body };
    expect((await server.call('put-configuration', call)).status).toBe(400);
  });

  it('but names and values of 4096 characters are accepted', async () => {
    expect((await put({ [longest]: longest })).status).toBe(204);
    expect(await read()).toEqual({ [longest]: longest });
  });

  it('beyond 100 keys, until a key is removed', async () => {
    expect((await put(settings(100))).status).toBe(204);
    expect((await put({ 'one-more': 'x' })).status).toBe(400);
    expect(await read()).toEqual(settings(100));
    expect((await put({ 'one-more': 'x', 'key-0': '' })).status).toBe(204);
    expect((await put({ 'key-1': 'changed' })).status).toBe(204);
    expect(Object.keys((await read()) as object)).toHaveLength(100);
  });

  it('101 keys of which one is empty are 100', async () => {
    expect((await put({ ...settings(100), empty: '' })).status).toBe(204);
  });
});

describe('the settings as users see them', () => {
  it('are empty before there are any', async () => {
    expect(await shown()).toEqual({
      id: device.id,
      configured: {},
      reported: {},
      updated_ts: now(),
    });
  });

  it('tell apart what is configured and what the device has reported, and when', async () => {
    await set({ timezone: 'CET', locale: 'C' });
    expect(await read()).toEqual({ timezone: 'CET', locale: 'C' });
    expect(await shown()).not.toHaveProperty('reported_ts');
    server.clock.advance(1234);
    await put({ timezone: 'UTC' });
    const reportedAt = now();
    server.clock.advance(1000);
    await set({ timezone: 'EET' });
    expect(await shown()).toEqual({
      id: device.id,
      configured: { timezone: 'EET' },
      reported: { timezone: 'UTC' },
      updated_ts: now(),
      reported_ts: reportedAt,
    });
  });

  it('are replaced as a whole by users; an empty value is no setting', async () => {
    await set({ timezone: 'UTC', locale: 'C' });
    const reply = await set({ mode: 'fast', empty: '' });
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(await read()).toEqual({ mode: 'fast' });
    await set({});
    expect(await read()).toEqual({});
  });

  it('need a body', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const call = { token: server.adminToken, parameters: { id: device.id }, headers };
    expect((await server.call('set-configuration', call)).status).toBe(400);
  });

  it.each(['00000000-0000-4000-8000-000000000000', 'no-uuid', 'ü'])(
    'are 404 for %s',
    async (id) => {
      const call = { token: server.adminToken, parameters: { id } };
      const statuses = [
        (await server.call('show-configuration', call)).status,
        (await set({ timezone: 'UTC' }, id)).status,
        (await server.call('deploy-configuration', { ...call, json: {} })).status,
      ];
      expect(statuses).toEqual([404, 404, 404]);
    },
  );
});

describe('who may touch settings', () => {
  it('a user token is 401 on the side of devices', async () => {
    for (const operation of ['get-configuration', 'put-configuration'] as const) {
      for (const call of [{}, { token: server.adminToken }]) {
        expect((await server.call(operation, call)).status).toBe(401);
      }
    }
  });

  it('a device token is 401 on the side of users, even for its own settings', async () => {
    const parameters = { id: device.id };
    const operations = ['show-configuration', 'set-configuration', 'deploy-configuration'] as const;
    for (const operation of operations) {
      const json = operation === 'show-configuration' ? undefined : { timezone: 'UTC' };
      const reply = await server.call(operation, { token: device.token, parameters, json });
      expect(reply.status).toBe(401);
    }
    expect(await read()).toEqual({});
  });
});
