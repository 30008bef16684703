import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { InventoryDevice } from '../../../fixtures/contract/management/inventory.ts';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

beforeEach(async () => {
  deviceCount += 1;
  device = await acceptedDevice(server, `tagged-${deviceCount}`);
});

type Method = 'replace-tags' | 'add-tags';

function write(method: Method, json: unknown, ifMatch?: string) {
  const headers: Record<string, string> = ifMatch === undefined ? {} : { 'If-Match': ifMatch };
  const parameters = { id: device.id };
  return server.call(method, { token: server.adminToken, parameters, json, headers });
}

async function readTags() {
  const parameters = { id: device.id };
  const response = await server.call('get-inventory', { token: server.adminToken, parameters });
  const { attributes } = response.json<InventoryDevice>();
  const tags = attributes.filter(({ scope }) => scope === 'tags');
  return {
    etag: response.headers.get('etag'),
    tags: Object.fromEntries(tags.map(({ name, value }) => [name, value])),
  };
}

const tag = (name: string, value: unknown) => ({ name, value });
const many = (count: number) => Array.from({ length: count }, (_, at) => tag(`t${at}`, 'x'));

describe('the tags of a device', () => {
  it('replace all earlier tags, or are added to them', async () => {
    const put = await write('replace-tags', [tag('site', 'north'), tag('floor', 3)]);
    expect([put.status, put.text]).toEqual([200, '']);
    expect((await write('add-tags', [tag('floor', 4), tag('roles', ['a', 'b'])])).status).toBe(200);
    expect((await readTags()).tags).toEqual({ site: 'north', floor: 4, roles: ['a', 'b'] });
    await write('replace-tags', [tag('only', '')]);
    expect((await readTags()).tags).toEqual({ only: '' });
    await write('replace-tags', []);
    expect((await readTags()).tags).toEqual({});
  });

  it('have description and time, and are separate from device attributes', async () => {
    const attributes = [{ name: 'site', value: 'south' }];
    await server.call('put-attributes', { token: device.token, json: attributes });
    await write('add-tags', [{ ...tag('site', 'north'), description: 'where', scope: 'system' }]);
    const parameters = { id: device.id };
    const response = await server.call('get-inventory', { token: server.adminToken, parameters });
    const timestamp = new Date(server.clock.now()).toISOString();
    expect(
      response.json<InventoryDevice>().attributes.filter(({ name }) => name === 'site'),
    ).toEqual([
      { scope: 'inventory', name: 'site', value: 'south', timestamp },
      { scope: 'tags', name: 'site', value: 'north', description: 'where', timestamp },
    ]);
    await server.call('put-attributes', { token: device.token, json: [] });
    expect((await readTags()).tags).toEqual({ site: 'north' });
  });

  it('cannot be set by the device, even in the scope tags', async () => {
    const json = [{ name: 'site', value: 'mine', scope: 'tags' }];
    await server.call('patch-attributes', { token: device.token, json });
    expect((await readTags()).tags).toEqual({});
  });

  it('are limited to twenty', async () => {
    expect((await write('replace-tags', many(21))).status).toBe(400);
    expect((await write('replace-tags', many(20))).status).toBe(200);
    const response = await write('add-tags', [tag('one more', 'x')]);
    expect([response.status, response.json().error]).toEqual([
      400,
      'body: a device can have at most 20 tags, not 21',
    ]);
    expect((await write('add-tags', [tag('t0', 'y')])).status).toBe(200);
    expect(Object.keys((await readTags()).tags)).toHaveLength(20);
  });

  it('are logged in the audit log as an update of the device', async () => {
    await write('add-tags', [tag('site', 'north')]);
    const query = { object_id: device.id, per_page: '1' };
    const call = { token: server.adminToken, query };
    const entries = (await server.call('list-audit-logs', call)).json<AuditLog[]>();
    expect(entries).toMatchObject([
      { action: 'update', change: 'tags: [{"name":"site","value":"north"}]' },
    ]);
  });
});

describe("the ETag of a device's tags", () => {
  it('exists from the first write on and changes with each write', async () => {
    expect((await readTags()).etag).toBeNull();
    await write('add-tags', [tag('a', 1)]);
    const first = (await readTags()).etag;
    await write('add-tags', [tag('a', 1)]);
    const second = (await readTags()).etag;
    expect(first).toMatch(/^"[0-9a-f-]{36}"$/);
    expect(second).not.toBe(first);
    await server.call('put-attributes', { token: device.token, json: [tag('b', 1)] });
    expect((await readTags()).etag).toBe(second);
  });

  it.each<Method>(['replace-tags', 'add-tags'])(
    'permits %s only if it is the current one, otherwise 412',
    async (method) => {
      await write('add-tags', [tag('a', 1)]);
      const stale = (await readTags()).etag ?? '';
      expect((await write(method, [tag('a', 2)], stale)).status).toBe(200);
      const response = await write(method, [tag('a', 3)], stale);
      expect([response.status, response.json().error]).toEqual([
        412,
        expect.stringContaining('ETag does not match'),
      ]);
      expect((await readTags()).tags).toEqual({ a: 2 });
      const bare = (await readTags()).etag?.replaceAll('"', '');
      expect((await write(method, [tag('a', 4)], bare)).status).toBe(200);
    },
  );

  it('cannot match before the first write, unless If-Match is *', async () => {
    expect((await write('add-tags', [tag('a', 1)], '"any"')).status).toBe(412);
    expect((await write('add-tags', [tag('a', 1)], '*')).status).toBe(200);
  });

  it('is deleted when the device is decommissioned', async () => {
    await write('add-tags', [tag('a', 1)]);
    const parameters = { id: device.id };
    await server.call('decommission-device', { token: server.adminToken, parameters });
    device = await acceptedDevice(server, `tagged-${deviceCount}`);
    expect(await readTags()).toEqual({ etag: null, tags: {} });
  });
});

describe('a malformed write of tags', () => {
  it.each<[string, unknown]>([
    ['an object', { name: 'a', value: 1 }],
    ['a string', 'a'],
    ['no name', [{ value: 1 }]],
    ['an empty name', [tag('', 1)]],
    ['a name that is too long', [tag('x'.repeat(1025), 1)]],
    ['no value', [{ name: 'a' }]],
    ['null', [tag('a', null)]],
    ['a boolean', [tag('a', true)]],
    ['an object for a value', [tag('a', {})]],
    ['a mixed list', [tag('a', [1, 'x'])]],
    ['one wrong among valid ones', [tag('b', 1), tag('a', null)]],
  ])('returns 400 and changes nothing for %s', async (_, json) => {
    await write('add-tags', [tag('kept', 1)]);
    for (const method of ['replace-tags', 'add-tags'] as const) {
      const response = await write(method, json);
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringMatching(/^body: /),
      ]);
    }
    expect((await readTags()).tags).toEqual({ kept: 1 });
  });
});
