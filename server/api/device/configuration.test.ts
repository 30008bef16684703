import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationView } from '../../../fixtures/contract/management/configuration.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

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

function put(json: unknown): Promise<TestResponse> {
  return server.call('put-configuration', { token: device.token, json });
}

async function read(reader = device): Promise<unknown> {
  const response = await server.call('get-configuration', { token: reader.token });
  return response.status === 200 ? response.json() : response.status;
}

function set(json: unknown, id = device.id): Promise<TestResponse> {
  const call = { token: server.adminToken, parameters: { id }, json };
  return server.call('set-configuration', call);
}

async function readView(): Promise<ConfigurationView> {
  const call = { token: server.adminToken, parameters: { id: device.id } };
  return (await server.call('show-configuration', call)).json<ConfigurationView>();
}

/** Returns pairs with the keys `key-0`, `key-1` and so on. */
function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, `${at}`]));
}

const nowText = () => new Date(server.clock.now()).toISOString();

describe('the configuration that a device reads', () => {
  it('is {} before a key is set', async () => {
    expect(await read()).toEqual({});
  });

  it('is what the device put, with 204 and no body', async () => {
    const response = await put({ timezone: 'UTC', 'key.with$signs/ü': 'wért 😀\n' });
    expect([response.status, response.text]).toEqual([204, '']);
    expect(await read()).toEqual({ timezone: 'UTC', 'key.with$signs/ü': 'wért 😀\n' });
  });

  it('keeps keys that are absent from a report', async () => {
    await put({ timezone: 'UTC', locale: 'C' });
    await put({ timezone: 'CET', mode: 'fast' });
    expect(await read()).toEqual({ timezone: 'CET', locale: 'C', mode: 'fast' });
  });

  it('loses a key whose reported value is empty', async () => {
    await put({ timezone: 'UTC', locale: 'C' });
    expect((await put({ timezone: '', unknown: '' })).status).toBe(204);
    expect(await read()).toEqual({ locale: 'C' });
  });

  it('does not change by a report of an empty object', async () => {
    await put({ timezone: 'UTC' });
    expect((await put({})).status).toBe(204);
    expect(await read()).toEqual({ timezone: 'UTC' });
  });

  it.each([undefined, 'application/json', 'text/plain'])(
    'does not change by a report without a body, which returns 204 (Content-Type %s)',
    async (type) => {
      await put({ timezone: 'UTC' });
      const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
      const call = { token: device.token, headers };
      expect((await server.call('put-configuration', call)).status).toBe(204);
      expect(await read()).toEqual({ timezone: 'UTC' });
    },
  );

  it('can have keys that are names of built-in object members', async () => {
    const json = JSON.parse('{"toString":"a","hasOwnProperty":"b"}') as unknown;
    await put(json);
    expect(await read()).toEqual(json);
  });

  it('belongs to that device alone', async () => {
    await put({ timezone: 'UTC' });
    expect(await read(await acceptedDevice(server, `other-${deviceCount}`))).toEqual({});
  });

  it('is deleted with a decommissioned device, also for the same identity', async () => {
    await put({ timezone: 'UTC' });
    const call = { token: server.adminToken, parameters: { id: device.id } };
    await server.call('decommission-device', call);
    const newDevice = await acceptedDevice(server, `configuration-${deviceCount}`);
    expect([await read(), await read(newDevice)]).toEqual([401, {}]);
  });
});

describe('a write of the configuration of a device', () => {
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
    ['101 keys', pairs(101)],
    ['an array in place of the object', ['a']],
    ['an empty array in place of the object', []],
    ['a string in place of the object', 'timezone'],
    ['a number in place of the object', 7],
    ['null in place of the object', null],
  ])('returns 400 and changes nothing for %s', async (_, json) => {
    await put({ timezone: 'UTC' });
    for (const response of [await put(json), await set(json)]) {
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringMatching(/^body: /),
      ]);
    }
    const view = await readView();
    const both = [view.configured, view.reported];
    expect(both).toEqual([{ timezone: 'UTC' }, { timezone: 'UTC' }]);
  });

  it.each(['{', '{"a":"b"', '"', 'timezone=UTC'])(
    'returns 400 for the text %j as a body',
    async (body) => {
      const headers = { 'Content-Type': 'application/json' };
      const call = { token: device.token, headers, body };
      expect((await server.call('put-configuration', call)).status).toBe(400);
    },
  );

  it('accepts names and values of 4096 characters', async () => {
    expect((await put({ [longest]: longest })).status).toBe(204);
    expect(await read()).toEqual({ [longest]: longest });
  });

  it('returns 400 beyond 100 keys, until a key is removed', async () => {
    expect((await put(pairs(100))).status).toBe(204);
    expect((await put({ 'one-more': 'x' })).status).toBe(400);
    expect(await read()).toEqual(pairs(100));
    expect((await put({ 'one-more': 'x', 'key-0': '' })).status).toBe(204);
    expect((await put({ 'key-1': 'changed' })).status).toBe(204);
    expect(Object.keys((await read()) as object)).toHaveLength(100);
  });

  it('does not count an empty value towards the 100 keys', async () => {
    expect((await put({ ...pairs(100), empty: '' })).status).toBe(204);
  });
});

describe('the configuration of a device that users read', () => {
  it('is empty before a key is set', async () => {
    expect(await readView()).toEqual({
      id: device.id,
      configured: {},
      reported: {},
      updated_ts: nowText(),
    });
  });

  it('separates configured from reported values, each with its time', async () => {
    await set({ timezone: 'CET', locale: 'C' });
    expect(await read()).toEqual({ timezone: 'CET', locale: 'C' });
    expect(await readView()).not.toHaveProperty('reported_ts');
    server.clock.advance(1234);
    await put({ timezone: 'UTC' });
    const reportedAt = nowText();
    server.clock.advance(1000);
    await set({ timezone: 'EET' });
    expect(await readView()).toEqual({
      id: device.id,
      configured: { timezone: 'EET' },
      reported: { timezone: 'UTC' },
      updated_ts: nowText(),
      reported_ts: reportedAt,
    });
  });

  it('is replaced as a whole, without keys of empty values', async () => {
    await set({ timezone: 'UTC', locale: 'C' });
    const response = await set({ mode: 'fast', empty: '' });
    expect([response.status, response.text]).toEqual([204, '']);
    expect(await read()).toEqual({ mode: 'fast' });
    await set({});
    expect(await read()).toEqual({});
  });

  it('returns 400 if set without a body', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const call = { token: server.adminToken, parameters: { id: device.id }, headers };
    expect((await server.call('set-configuration', call)).status).toBe(400);
  });

  it.each(['00000000-0000-4000-8000-000000000000', 'no-uuid', 'ü'])(
    'return 404 for the device ID %s',
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

describe('access to the configuration of a device', () => {
  it('returns 401 to a user token at the device operations', async () => {
    for (const operation of ['get-configuration', 'put-configuration'] as const) {
      for (const call of [{}, { token: server.adminToken }]) {
        expect((await server.call(operation, call)).status).toBe(401);
      }
    }
  });

  it('returns 401 to a device token at the user operations', async () => {
    const parameters = { id: device.id };
    const operations = ['show-configuration', 'set-configuration', 'deploy-configuration'] as const;
    for (const operation of operations) {
      const json = operation === 'show-configuration' ? undefined : { timezone: 'UTC' };
      const response = await server.call(operation, { token: device.token, parameters, json });
      expect(response.status).toBe(401);
    }
    expect(await read()).toEqual({});
  });
});
