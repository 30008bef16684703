import { afterEach, describe, expect, it } from 'vitest';
import { board, nextRequests } from '../../testing/test-deployments.ts';
import {
  acceptedDevice,
  authenticate,
  knownDevices,
  newDevice,
} from '../../testing/test-device.ts';
import { namesIn, setGroup } from '../../testing/test-inventory.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

const DELAY_MS = 3000;

let server: TestServer;

afterEach(() => server.close());

async function start(isDelayed = true): Promise<void> {
  const dialects = new Set(isDelayed ? (['asynchronous-provisioning'] as const) : []);
  server = await startTestServer({ dialects, provisioningDelayMs: DELAY_MS });
}

type Shown = 'get-inventory' | 'show-configuration' | 'get-device-group' | 'get-connection';

async function show(operation: Shown, id: string): Promise<TestResponse> {
  return server.call(operation, { token: server.adminToken, parameters: { id } });
}

async function listNames(): Promise<unknown[]> {
  const call = { token: server.adminToken };
  const found = await server.call('search-inventory', { ...call, json: {} });
  const names = namesIn(await server.call('list-inventory', call));
  expect(namesIn(found)).toEqual(names);
  return names;
}

describe('under asynchronous-provisioning the records of a device', () => {
  it.each<Shown>(['get-inventory', 'show-configuration', 'get-device-group', 'get-connection'])(
    'appear exactly after the delay from acceptance: %s',
    async (operation) => {
      await start();
      const { id } = await acceptedDevice(server, 'new');
      const early = await show(operation, id);
      expect([early.status, early.json().error]).toEqual([
        404,
        expect.stringContaining('not provisioned'),
      ]);
      server.clock.advance(DELAY_MS - 1);
      expect((await show(operation, id)).status).toBe(404);
      server.clock.advance(1);
      expect((await show(operation, id)).status).toBe(200);
    },
  );

  it('do not appear while the device waits to be accepted', async () => {
    await start();
    await authenticate(server, newDevice('waiting'));
    server.clock.advance(10 * DELAY_MS);
    const [device] = await knownDevices(server);
    expect((await show('get-inventory', device?.id ?? '')).status).toBe(404);
    expect(await listNames()).toEqual([]);
  });

  it('are in no list before the delay, and stay after a rejection', async () => {
    await start();
    const device = await acceptedDevice(server, 'new');
    expect(await listNames()).toEqual([]);
    const attributes = { token: server.adminToken };
    expect((await server.call('list-filterable-attributes', attributes)).json()).toEqual([]);
    server.clock.advance(DELAY_MS);
    const parameters = { id: device.id, aid: device.authSetId };
    const call = { token: server.adminToken, parameters, json: { status: 'rejected' } };
    await server.call('set-auth-set-status', call);
    expect(await listNames()).toEqual(['new']);
  });

  it('contain what the device sent before they appeared', async () => {
    await start();
    const { id, token } = await acceptedDevice(server, 'eager');
    const json = [{ name: 'ip', value: '10.0.0.1' }];
    expect((await server.call('put-attributes', { token, json })).status).toBe(200);
    expect((await show('get-inventory', id)).status).toBe(404);
    server.clock.advance(DELAY_MS);
    expect((await show('get-inventory', id)).text).toContain('10.0.0.1');
  });

  it('return 404 for a group and tags before the delay', async () => {
    await start();
    const { id } = await acceptedDevice(server, 'new');
    const call = { token: server.adminToken, parameters: { id }, json: [{ name: 'a', value: 1 }] };
    expect((await setGroup(server, id, 'blue')).status).toBe(404);
    expect((await server.call('add-tags', call)).status).toBe(404);
  });
});

describe('under asynchronous-provisioning the configuration of a device', () => {
  it('returns 404 to the device until it is written or the record appears', async () => {
    await start();
    const one = await acceptedDevice(server, 'one');
    const read = (token: string) => server.call('get-configuration', { token });
    const early = await read(one.token);
    expect([early.status, early.json().error]).toEqual([404, expect.stringContaining('no config')]);
    await server.call('put-configuration', { token: one.token, json: { a: '1' } });
    expect([
      (await read(one.token)).json(),
      (await show('show-configuration', one.id)).status,
    ]).toEqual([{ a: '1' }, 200]);
    const otherDevice = await acceptedDevice(server, 'other');
    server.clock.advance(DELAY_MS);
    expect((await read(otherDevice.token)).json()).toEqual({});
  });

  it('is deployed only after the delay from the request', async () => {
    await start();
    const { id, token } = await acceptedDevice(server, 'deployed');
    const call = { token: server.adminToken, parameters: { id } };
    const deploy = () => server.call('deploy-configuration', { ...call, json: {} });
    expect((await deploy()).status).toBe(404);
    await server.call('set-configuration', { ...call, json: { a: '1' } });
    const { deployment_id: deploymentId } = (await deploy()).json<{ deployment_id: string }>();
    const seen = async () => [
      (await server.call('get-deployment', { ...call, parameters: { id: deploymentId } })).status,
      (await server.call('list-deployments', { token: server.adminToken })).json<[]>().length,
    ];
    expect(await seen()).toEqual([404, 0]);
    expect((await nextRequests['POST v2'](server, token, board)).status).toBe(204);
    server.clock.advance(DELAY_MS - 1);
    expect((await nextRequests['POST v2'](server, token, board)).status).toBe(204);
    server.clock.advance(1);
    const offered = await nextRequests['POST v2'](server, token, board);
    expect([offered.status, offered.json().id]).toEqual([200, deploymentId]);
    expect(await seen()).toEqual([200, 1]);
  });
});

describe('without the dialect asynchronous-provisioning', () => {
  it('the records and the configuration of a device appear at once', async () => {
    await start(false);
    const { id, token } = await acceptedDevice(server, 'prompt');
    expect((await show('get-inventory', id)).status).toBe(200);
    expect((await show('show-configuration', id)).status).toBe(200);
    expect((await server.call('get-configuration', { token })).json()).toEqual({});
    expect(await listNames()).toEqual(['prompt']);
    const call = { token: server.adminToken, parameters: { id }, json: {} };
    await server.call('deploy-configuration', call);
    expect((await nextRequests['POST v2'](server, token, board)).status).toBe(200);
  });
});
