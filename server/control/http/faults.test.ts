import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  newDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control, logIn, secondTenant } from '../../testing/test-tenants.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeEach(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'd-1');
});

afterEach(() => server.close());

const rule = { id: 'a', match: { operation: 'get-configuration' }, act: 'gateway-502' };

/** Sends the text of a fault plan with any media type. */
async function post(body: string, type = 'application/yaml', query = '') {
  const headers = { Authorization: `Bearer ${server.controlToken}`, 'Content-Type': type };
  const response = await fetch(`${server.controlUrl}/faults${query}`, {
    method: 'POST',
    headers,
    body,
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

async function get(path: string) {
  const { status, text } = await control(server, 'GET', path);
  return { status, body: JSON.parse(text) };
}

async function ask(): Promise<number> {
  return (await server.call('get-configuration', { token: device.token })).status;
}

describe('a fault plan', () => {
  it.each([
    ['application/json', JSON.stringify({ rules: [rule] })],
    [
      'application/yaml',
      'rules:\n- id: a\n  match: { operation: get-configuration }\n  act: gateway-502',
    ],
    ['text/plain', JSON.stringify({ rules: [rule] })],
  ])('is accepted when sent as %s', async (type, text) => {
    expect(await post(text, type)).toEqual({ status: 201, body: { added: ['a'] } });
    expect([await ask(), await ask()]).toEqual([502, 200]);
  });

  it('adds its rules to the existing ones', async () => {
    await post(JSON.stringify({ rules: [rule] }));
    await post(JSON.stringify({ rules: [{ ...rule, id: 'b' }] }));
    const { body } = await get('/faults');
    expect(body.rules.map(({ id }: { id: string }) => id)).toEqual(['a', 'b']);
  });

  it('returns 400 with the place of an error, and adds no rule', async () => {
    const text = 'rules:\n  - { id: a, act: reset }\n  - { id: b, act: fly }\n';
    expect(await post(text)).toEqual({
      status: 400,
      body: {
        error: expect.stringContaining('plan: line 3, column 19: rules.1.act: must be'),
        problems: [{ line: 3, column: 19, message: expect.any(String) }],
      },
    });
    expect((await get('/faults')).body).toEqual({ rules: [] });
  });

  it('returns 400 with the place of an error in JSON too', async () => {
    const { status, body } = await post(
      '{\n  "rules": [\n    { "id": "a" }\n  ]\n}',
      'application/json',
    );
    expect([status, body.problems[0]]).toMatchObject([400, { line: 3, column: 5 }]);
  });

  it.each([
    ['nothing', ''],
    ['an ID that is there already', JSON.stringify({ rules: [rule] })],
    [
      'more rules than a tenant has',
      JSON.stringify({ rules: Array.from({ length: 100 }, (_, n) => ({ ...rule, id: `r${n}` })) }),
    ],
    [
      'too many rules at once',
      JSON.stringify({ rules: Array.from({ length: 101 }, (_, n) => ({ ...rule, id: `r${n}` })) }),
    ],
  ])('returns 400 and adds no rule for %s', async (_, text) => {
    await post(JSON.stringify({ rules: [rule] }));
    expect((await post(text)).status).toBe(400);
    expect((await get('/faults')).body.rules).toHaveLength(1);
  });

  it('returns 413 when it is too large', async () => {
    const { status } = await post(`# ${'x'.repeat(5_000_000)}`);
    expect(status).toBe(413);
  });
});

describe('the removal of fault rules', () => {
  it('applies to one rule or to all rules', async () => {
    await post(JSON.stringify({ rules: [rule, { ...rule, id: 'b' }, { ...rule, id: 'c' }] }));
    expect(JSON.parse((await control(server, 'DELETE', '/faults?id=a')).text)).toEqual({
      cleared: 1,
    });
    const secondRemoval = await control(server, 'DELETE', '/faults?id=a');
    expect([secondRemoval.status, JSON.parse(secondRemoval.text).error]).toEqual([
      404,
      'no rule has this ID; the rules are b, c',
    ]);
    expect(JSON.parse((await control(server, 'DELETE', '/faults')).text)).toEqual({ cleared: 2 });
    expect(await ask()).toBe(200);
  });
});

describe('the check of fault rules', () => {
  it('returns 409 with the unfired rules, and 200 once all fired', async () => {
    expect(await get('/faults/check')).toEqual({ status: 200, body: { rules: 0, unfired: [] } });
    await post(JSON.stringify({ rules: [rule, { ...rule, id: 'b' }] }));
    await ask();
    expect(await get('/faults/check')).toEqual({
      status: 409,
      body: {
        error: expect.any(String),
        rules: 2,
        unfired: [{ id: 'b', act: 'respond', matched: 1 }],
      },
    });
    await ask();
    expect((await get('/faults/check')).status).toBe(200);
  });
});

describe('fault plans of several tenants', () => {
  it('are independent of each other', async () => {
    const otherTenant = await secondTenant(server);
    const always = { ...rule, match: {}, times: 'until-cleared' };
    await post(
      JSON.stringify({ rules: [always] }),
      'application/json',
      `?tenant=${otherTenant.name}`,
    );
    expect(await ask()).toBe(200);
    expect((await server.call('list-devices', { token: server.adminToken })).status).toBe(200);
    expect((await server.call('list-devices', { token: otherTenant.token })).status).toBe(502);
    expect((await get('/faults')).body.rules).toEqual([]);
    expect((await get(`/faults?tenant=${otherTenant.id}`)).body.rules).toMatchObject([
      { fired: 1, left: null },
    ]);
    await control(server, 'DELETE', '/faults');
    expect((await server.call('list-devices', { token: otherTenant.token })).status).toBe(502);
  });

  it('match by tenant_token or email before a request has a token', async () => {
    const otherTenant = await secondTenant(server);
    const always = { ...rule, match: {}, times: 'until-cleared' };
    await post(
      JSON.stringify({ rules: [always] }),
      'application/json',
      `?tenant=${otherTenant.name}`,
    );
    const { idData: id_data, publicKeyPem: pubkey } = newDevice('x');
    const ofOther = JSON.stringify({ id_data, pubkey, tenant_token: otherTenant.tenantToken });
    expect((await authenticate(server, newDevice('x'), { body: ofOther })).status).toBe(502);
    expect((await authenticate(server, newDevice('x'))).status).toBe(401);
    expect((await logIn(server, otherTenant.adminEmail, otherTenant.adminPassword)).status).toBe(
      502,
    );
    expect((await logIn(server, server.adminEmail, server.adminPassword)).status).toBe(200);
  });

  it.each(['GET', 'POST', 'DELETE'])('return 404 for an unknown tenant: %s', async (method) => {
    const json = method === 'POST' ? { rules: [rule] } : undefined;
    expect((await control(server, method, '/faults?tenant=nowhere', json)).status).toBe(404);
    expect((await control(server, 'GET', '/faults/check?tenant=nowhere')).status).toBe(404);
  });
});

describe('the control paths of faults', () => {
  it.each(['/faults', '/faults/check', '/faults/schema'])(
    'require the control token: %s',
    async (path) => {
      expect((await fetch(server.controlUrl + path)).status).toBe(401);
    },
  );

  it('serve the JSON Schema of plans', async () => {
    const { status, body } = await get('/faults/schema');
    expect([status, body.type, body.required]).toEqual([200, 'object', ['rules']]);
  });
});
