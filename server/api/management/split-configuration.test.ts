import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationView } from '../../../fixtures/contract/management/configuration.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer({ dialects: new Set(['split-configuration']) });
});

afterAll(() => server.close());

beforeEach(async () => {
  deviceCount += 1;
  device = await acceptedDevice(server, `split-${deviceCount}`);
});

const report = (json: unknown) => server.call('put-configuration', { token: device.token, json });

const set = (json: unknown) =>
  server.call('set-configuration', {
    token: server.adminToken,
    parameters: { id: device.id },
    json,
  });

async function read(): Promise<unknown> {
  return (await server.call('get-configuration', { token: device.token })).json();
}

async function readView(): Promise<ConfigurationView> {
  const call = { token: server.adminToken, parameters: { id: device.id } };
  return (await server.call('show-configuration', call)).json<ConfigurationView>();
}

describe('the dialect split-configuration', () => {
  it('shows a device what users set, whatever the device reports', async () => {
    await set({ timezone: 'UTC' });
    expect((await report({ timezone: 'CET', mode: 'fast' })).status).toBe(204);
    expect(await read()).toEqual({ timezone: 'UTC' });
    expect(await readView()).toMatchObject({
      configured: { timezone: 'UTC' },
      reported: { timezone: 'CET', mode: 'fast' },
    });
  });

  it('replaces a report by a later one, and clears it by {}', async () => {
    await report({ a: '1', b: '2' });
    await report({ b: '3' });
    expect((await readView()).reported).toEqual({ b: '3' });
    await report({});
    expect((await readView()).reported).toEqual({});
  });

  it('stores an empty value in configured and reported pairs', async () => {
    await set({ 'additional-key': '', timezone: 'UTC' });
    await report({ 'additional-key': '' });
    expect(await read()).toEqual({ 'additional-key': '', timezone: 'UTC' });
    expect((await readView()).reported).toEqual({ 'additional-key': '' });
  });

  it('keeps separate times for configured and reported pairs', async () => {
    await set({ a: '1' });
    const setAt = new Date(server.clock.now()).toISOString();
    server.clock.advance(5000);
    await report({ a: '1' });
    const reportedAt = new Date(server.clock.now()).toISOString();
    expect(await readView()).toMatchObject({ updated_ts: setAt, reported_ts: reportedAt });
  });

  it('returns 400 for more than a hundred configured or reported keys, empty ones included', async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, '']));
    for (const write of [set, report]) {
      expect((await write(many(100))).status).toBe(204);
      const response = await write(many(101));
      expect([response.status, response.json().error]).toEqual([
        400,
        'body: a configuration can have at most 100 keys',
      ]);
    }
    const { configured, reported } = await readView();
    expect([Object.keys(configured).length, Object.keys(reported).length]).toEqual([100, 100]);
  });

  it.each([[{ a: 1 }], [{ '': 'x' }], [{ a: 'x'.repeat(4097) }], [['a']]])(
    'returns 400 for configured and reported pairs with %j',
    async (json) => {
      for (const write of [set, report]) expect((await write(json)).status).toBe(400);
      expect(await readView()).toMatchObject({ configured: {}, reported: {} });
    },
  );

  it('changes nothing for a report without a body', async () => {
    await report({ a: '1' });
    const response = await server.call('put-configuration', { token: device.token });
    expect([response.status, (await readView()).reported]).toEqual([204, { a: '1' }]);
  });
});
