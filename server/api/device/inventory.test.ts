import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import type { InventoryDevice } from '../../../fixtures/contract/management/inventory.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
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
  device = await acceptedDevice(server, `inventory-${deviceCount}`);
});

const verbs = ['patch-attributes', 'put-attributes'] as const;
type Verb = (typeof verbs)[number];

function send(verb: Verb, json: unknown): Promise<TestResponse> {
  return server.call(verb, { token: device.token, json });
}

async function inventory(): Promise<InventoryDevice> {
  const call = { token: server.adminToken, parameters: { id: device.id } };
  return (await server.call('get-inventory', call)).json<InventoryDevice>();
}

/** Returns the names and values of the attributes of one scope. */
async function values(scope = 'inventory'): Promise<Record<string, unknown>> {
  const { attributes } = await inventory();
  const own = attributes.filter((attribute) => attribute.scope === scope);
  return Object.fromEntries(own.map(({ name, value }) => [name, value]));
}

function numbered(count: number, from = 0): { name: string; value: number }[] {
  return Array.from({ length: count }, (_, at) => ({ name: `name-${from + at}`, value: at }));
}

describe.each(verbs)('the inventory operation %s', (verb) => {
  it('returns 200 without a body, and users read attributes with type and time', async () => {
    const kinds = {
      text: 'wért 😀\n',
      empty: '',
      number: -1.5e3,
      zero: 0,
      texts: ['a', ''],
      numbers: [1, 2.5],
      none: [],
    };
    const json = Object.entries(kinds).map(([name, value]) => ({
      name,
      value,
      description: `a ${name}`,
    }));
    const response = await send(verb, json);
    expect([response.status, response.text, response.headers.get('content-length')]).toEqual([
      200,
      '',
      '0',
    ]);
    expect(await values()).toEqual(kinds);
    const { attributes } = await inventory();
    expect(attributes.find(({ name }) => name === 'zero')).toEqual({
      name: 'zero',
      scope: 'inventory',
      value: 0,
      description: 'a zero',
      timestamp: new Date(server.clock.now()).toISOString(),
    });
  });

  it('stores the last of several attributes with one name', async () => {
    const json = [1, 2, 3].map((value) => ({ name: 'twice', value }));
    expect((await send(verb, json)).status).toBe(200);
    expect(await values()).toEqual({ twice: 3 });
  });

  it('writes into the scope inventory, whatever scope the body names', async () => {
    // The first call of the device sets its check-in time.
    await send('patch-attributes', []);
    const before = await Promise.all(['identity', 'system', 'tags', 'monitor'].map(values));
    const scopes = ['identity', 'system', 'tags', 'monitor', 'inventory', 'unknown'];
    for (const scope of scopes) {
      const names = ['status', 'mac', 'created_ts', scope];
      const json = names.map((name) => ({ name, value: 'forged', scope }));
      expect((await send('patch-attributes', json)).status).toBe(200);
      expect((await send(verb, json)).status).toBe(200);
      expect(await values()).toMatchObject({ status: 'forged', mac: 'forged', [scope]: 'forged' });
    }
    const after = await Promise.all(['identity', 'system', 'tags', 'monitor'].map(values));
    expect(after).toEqual(before);
    expect(before[0]).toEqual({ mac: `inventory-${deviceCount}`, status: 'accepted' });
  });

  it("changes only that device's attributes, not its authentication status", async () => {
    const otherDevice = await acceptedDevice(server, `inventory-other-${deviceCount}`);
    await send(verb, [{ name: 'status', value: 'rejected' }]);
    const call = { token: server.adminToken, parameters: { id: device.id } };
    expect((await server.call('get-device', call)).json<Device>().status).toBe('accepted');
    device = otherDevice;
    expect(await values()).toEqual({});
  });

  it('accepts names of 1024 characters and names of built-in object members', async () => {
    const names = [
      'x'.repeat(1024),
      '__proto__',
      'constructor',
      'a.b$c',
      ' ',
      '\u0000',
      'a\u0000b',
    ];
    expect(
      (
        await send(
          verb,
          names.map((name) => ({ name, value: name })),
        )
      ).status,
    ).toBe(200);
    const { attributes } = await inventory();
    const own = attributes.filter(({ scope }) => scope === 'inventory');
    expect(own.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    for (const { name, value } of own) expect(value).toBe(name);
  });

  it('accepts 100 attributes and no more', async () => {
    expect((await send(verb, numbered(100))).status).toBe(200);
    expect((await send(verb, numbered(101))).status).toBe(400);
    expect(Object.keys(await values())).toHaveLength(100);
    expect((await send(verb, [...numbered(100), ...numbered(100)])).status).toBe(200);
  });

  const validAttribute = { name: 'good', value: 'new' };

  it.each([
    ['null', { name: 'bad', value: null }],
    ['true', { name: 'bad', value: true }],
    ['false', { name: 'bad', value: false }],
    ['an object', { name: 'bad', value: { a: 1 } }],
    ['an array of both kinds', { name: 'bad', value: ['1', 2] }],
    ['an array of both kinds, the number first', { name: 'bad', value: [1, '2'] }],
    ['an array with null', { name: 'bad', value: ['a', null] }],
    ['an array of booleans', { name: 'bad', value: [true] }],
    ['an array of arrays', { name: 'bad', value: [['a']] }],
    ['an array of objects', { name: 'bad', value: [{}] }],
    ['nothing', { name: 'bad' }],
  ])('returns 400 for a value that is %s, and nothing changes', async (_, bad) => {
    await send('put-attributes', [{ name: 'good', value: 'old' }]);
    const response = await send(verb, [validAttribute, bad]);
    expect([response.status, response.json()]).toEqual([
      400,
      { error: expect.stringMatching(/^body: 1\.value: /), request_id: expect.any(String) },
    ]);
    expect(await values()).toEqual({ good: 'old' });
  });

  it.each([
    ['no name', { value: 'x' }],
    ['an empty name', { name: '', value: 'x' }],
    ['a name that is a number', { name: 7, value: 'x' }],
    ['a name that is null', { name: null, value: 'x' }],
    ['a name that is too long', { name: 'x'.repeat(1025), value: 'x' }],
    ['a description that is a number', { name: 'bad', value: 'x', description: 7 }],
    ['a description that is null', { name: 'bad', value: 'x', description: null }],
    ['a string in place of an attribute', 'bad'],
    ['null in place of an attribute', null],
    ['an array in place of an attribute', ['bad', 'x']],
  ])('returns 400 for %s, and nothing changes', async (_, bad) => {
    await send('put-attributes', [{ name: 'good', value: 'old' }]);
    const response = await send(verb, [validAttribute, bad]);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^body: 1/),
    ]);
    expect(await values()).toEqual({ good: 'old' });
  });

  it.each([{ good: 'new' }, validAttribute, { attributes: [validAttribute] }, 'good', 7, null])(
    'returns 400 for %j instead of an array',
    async (json) => {
      await send('put-attributes', [{ name: 'good', value: 'old' }]);
      expect((await send(verb, json)).status).toBe(400);
      expect(await values()).toEqual({ good: 'old' });
    },
  );

  it.each([
    '',
    '[',
    '[{"name":"bad","value":1e999}]',
    '[{"name":"bad","value":[1,-1e999]}]',
    '[{"name":"bad","value":NaN}]',
  ])('returns 400 for the text %j as a body', async (body) => {
    const headers = { 'Content-Type': 'application/json' };
    expect((await server.call(verb, { token: device.token, headers, body })).status).toBe(400);
    expect(await values()).toEqual({});
  });

  it('returns 401 without a token, with a wrong one and with a user token', async () => {
    for (const call of [{}, { token: 'x' }, { token: server.adminToken }]) {
      const response = await server.call(verb, { ...call, json: [validAttribute] });
      expect(response.status).toBe(401);
    }
  });
});

describe('PATCH of inventory attributes', () => {
  it('keeps absent attributes, and descriptions that are not given', async () => {
    await send('put-attributes', [
      { name: 'a', value: 1, description: 'about a' },
      { name: 'b', value: 2, description: 'about b' },
    ]);
    server.clock.advance(1000);
    await send('patch-attributes', [
      { name: 'b', value: ['changed'] },
      { name: 'c', value: 3 },
    ]);
    expect(await values()).toEqual({ a: 1, b: ['changed'], c: 3 });
    const { attributes } = await inventory();
    const about = attributes.filter(({ scope }) => scope === 'inventory');
    expect(about.map(({ description }) => description)).toEqual(['about a', 'about b', undefined]);
    const [a, b] = about.map(({ timestamp }) => Date.parse(`${timestamp}`));
    expect(Number(b) - Number(a)).toBe(1000);
  });

  it('changes nothing if the array is empty', async () => {
    await send('put-attributes', [{ name: 'a', value: 1 }]);
    expect((await send('patch-attributes', [])).status).toBe(200);
    expect(await values()).toEqual({ a: 1 });
  });

  it('counts existing names: the 101st returns 400, a new value does not', async () => {
    await send('put-attributes', numbered(99));
    expect((await send('patch-attributes', numbered(2, 99))).status).toBe(400);
    expect((await send('patch-attributes', numbered(1, 99))).status).toBe(200);
    expect((await send('patch-attributes', [{ name: 'one-more', value: 1 }])).status).toBe(400);
    expect((await send('patch-attributes', [{ name: 'name-0', value: 'x' }])).status).toBe(200);
    expect(Object.keys(await values())).toHaveLength(100);
  });
});

describe('PUT of inventory attributes', () => {
  it('removes attributes and descriptions that the body does not give', async () => {
    await send('patch-attributes', [
      { name: 'a', value: 1, description: 'about a' },
      { name: 'b', value: 2 },
    ]);
    await send('put-attributes', [{ name: 'a', value: 'x' }]);
    const { attributes } = await inventory();
    expect(attributes.filter(({ scope }) => scope === 'inventory')).toEqual([
      { name: 'a', scope: 'inventory', value: 'x', timestamp: expect.any(String) },
    ]);
  });

  it('clears only the scope inventory if the array is empty', async () => {
    await send('put-attributes', numbered(100));
    expect((await send('put-attributes', [])).status).toBe(200);
    expect(await values()).toEqual({});
    expect(await values('identity')).toHaveProperty('status', 'accepted');
  });

  it('replaces a hundred attributes with another hundred', async () => {
    await send('put-attributes', numbered(100));
    expect((await send('put-attributes', numbered(100, 1000))).status).toBe(200);
    expect(Object.keys(await values())).toContain('name-1099');
  });
});

describe('the inventory of a device', () => {
  it('returns 405 for other methods on the attributes', async () => {
    const { path } = operations['put-attributes'];
    for (const method of ['GET', 'POST', 'DELETE']) {
      const response = await server.request(method, path, { token: device.token });
      expect([response.status, response.headers.get('allow')]).toEqual([
        405,
        'PATCH, PUT, OPTIONS',
      ]);
    }
  });

  it('returns 404 for an unknown device', async () => {
    const parameters = { id: '00000000-0000-4000-8000-000000000000' };
    const call = { token: server.adminToken, parameters };
    expect((await server.call('get-inventory', call)).status).toBe(404);
  });

  it('returns 401 to device tokens', async () => {
    const call = { token: device.token, parameters: { id: device.id } };
    expect((await server.call('get-inventory', call)).status).toBe(401);
  });

  it('has the real status in scope identity, even if identity data forges one', async () => {
    const json = { identity_data: { mac: 'x', status: 'forged' }, pubkey: device.publicKeyPem };
    const call = { token: server.adminToken, json };
    const response = await server.call('preauthorize-device', call);
    const id = response.headers.get('location')?.split('/').at(-1) ?? '';
    device = { ...device, id };
    const { attributes } = await inventory();
    expect(attributes.filter(({ scope }) => scope === 'identity')).toEqual([
      { name: 'mac', scope: 'identity', value: 'x' },
      { name: 'status', scope: 'identity', value: 'preauthorized' },
    ]);
  });

  it('has the times of first and last contact in scope system', async () => {
    const iso = new Date(server.clock.now()).toISOString();
    expect(await values('system')).toMatchObject({ created_ts: iso });
    server.clock.advance(60_000);
    await send('patch-attributes', []);
    const heard = new Date(server.clock.now()).toISOString();
    expect(await values('system')).toMatchObject({ created_ts: iso, check_in_time: heard });
  });
});
