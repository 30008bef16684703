import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { TENANTS_MAX } from '../../tenants/tenants.ts';
import { artifactBytes } from '../../testing/test-artifacts.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import {
  control,
  logIn,
  mailTo,
  outbox,
  secondTenant,
  type TestTenant,
} from '../../testing/test-tenants.ts';

let server: TestServer;
let second: TestTenant;

beforeAll(async () => {
  server = await startTestServer();
  second = await secondTenant(server);
});

afterAll(() => server.close());

const validTenant = {
  name: 'Third',
  adminEmail: 'admin@third.example',
  adminPassword: 'a-long-secret',
};

async function tenants() {
  const response = await control(server, 'GET', '/tenants');
  expect(response.status).toBe(200);
  return JSON.parse(response.text) as Record<string, unknown>[];
}

describe('tenants on the control listener', () => {
  it('are listed in order of creation, the default first', async () => {
    const [first, otherTenant] = await tenants();
    expect(first).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Default',
      status: 'active',
      tenantToken: expect.stringMatching(/^[\w-]{43}$/),
      createdAt: '2026-11-21T12:00:00.000Z',
    });
    expect(otherTenant).toMatchObject({ id: second.id, name: 'Second', status: 'active' });
    expect(otherTenant).not.toHaveProperty('adminPassword');
  });

  it('are created with an admin and, if none is given, a generated password', async () => {
    expect(second.adminPassword.length).toBeGreaterThanOrEqual(16);
    const response = await server.call('count-devices', { token: second.token });
    expect([response.status, response.json()]).toEqual([200, { count: 0 }]);
  });

  it('are created with the given password', async () => {
    const response = await control(server, 'POST', '/tenants', {
      ...validTenant,
      adminEmail: 'a@four.example',
    });
    expect(response.status).toBe(201);
    expect(JSON.parse(response.text)).toMatchObject({ adminPassword: validTenant.adminPassword });
    expect((await logIn(server, 'a@four.example', validTenant.adminPassword)).status).toBe(200);
  });

  it.each<[string, unknown, string]>([
    ['no name', { ...validTenant, name: undefined }, 'name'],
    ['an empty name', { ...validTenant, name: '' }, 'name'],
    ['a long name', { ...validTenant, name: 'n'.repeat(257) }, 'name'],
    ['a name that is not a string', { ...validTenant, name: 7 }, 'name'],
    ['no email', { ...validTenant, adminEmail: undefined }, 'adminEmail'],
    ['an email without @', { ...validTenant, adminEmail: 'admin' }, 'adminEmail'],
    ['an email with a colon', { ...validTenant, adminEmail: 'a:b@c.example' }, 'adminEmail'],
    ['a short password', { ...validTenant, adminPassword: '1234567' }, 'adminPassword'],
    ['a password that is not a string', { ...validTenant, adminPassword: null }, 'adminPassword'],
    ['a list', [], 'body'],
  ])('return 400 for %s, naming the field', async (_, json, named) => {
    const response = await control(server, 'POST', '/tenants', json);
    expect(response.status).toBe(400);
    expect(JSON.parse(response.text).error).toContain(named);
  });

  it('return 409 when any other tenant already has the name', async () => {
    const own = await startTestServer();
    await secondTenant(own, 'Twice');
    for (const name of ['Twice', 'Default']) {
      const response = await control(own, 'POST', '/tenants', {
        name,
        adminEmail: 'x@twice.example',
      });
      expect([response.status, response.text]).toEqual([
        409,
        expect.stringContaining('body: name'),
      ]);
    }
    await own.close();
  });

  it('return 409 when any tenant already has the email', async () => {
    const countBefore = (await tenants()).length;
    for (const adminEmail of [server.adminEmail, second.adminEmail]) {
      const given = { ...validTenant, name: 'Other', adminEmail };
      const response = await control(server, 'POST', '/tenants', given);
      expect([response.status, response.text]).toEqual([
        409,
        expect.stringContaining('adminEmail'),
      ]);
    }
    expect(await tenants()).toHaveLength(countBefore);
  });

  it('are created once by two simultaneous requests', async () => {
    const same = { name: 'At once', adminEmail: 'at-once@example.com' };
    const responses = await Promise.all([
      control(server, 'POST', '/tenants', same),
      control(server, 'POST', '/tenants', same),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
  });
});

describe('the status of a tenant', () => {
  it.each([{}, { status: 'gone' }, { status: null }, 'suspended', { status: ['active'] }])(
    'returns 400 for %j',
    async (json) => {
      const response = await control(server, 'PUT', `/tenants/${second.id}/status`, json);
      expect(response.status).toBe(400);
    },
  );

  it('returns 404 for an unknown tenant', async () => {
    const response = await control(server, 'PUT', '/tenants/nobody/status', { status: 'active' });
    expect([response.status, response.text]).toEqual([
      404,
      expect.stringContaining(`Second (${second.id})`),
    ]);
  });

  it('is shown with the value that was set', async () => {
    const path = `/tenants/${second.id}/status`;
    const set = await control(server, 'PUT', path, { status: 'suspended' });
    expect(JSON.parse(set.text)).toMatchObject({ id: second.id, status: 'suspended' });
    const tenant = (await tenants()).find(({ id }) => id === second.id);
    expect(tenant).toMatchObject({ status: 'suspended' });
    await control(server, 'PUT', path, { status: 'active' });
  });
});

describe('a body on the control listener', () => {
  const post = (init: RequestInit, headers: Record<string, string> = {}) =>
    fetch(`${server.controlUrl}/tenants`, {
      method: 'POST',
      ...init,
      headers: { Authorization: `Bearer ${server.controlToken}`, ...headers },
    });
  const json = { 'Content-Type': 'application/json' };

  it.each<[number, string, RequestInit, Record<string, string>]>([
    [400, 'none', {}, {}],
    [400, 'no JSON', { body: '{' }, json],
    [400, 'a bare word', { body: 'true' }, json],
    [415, 'another media type', { body: 'name=x' }, { 'Content-Type': 'text/plain' }],
    [415, 'compressed', { body: 'xx' }, { ...json, 'Content-Encoding': 'gzip' }],
    [413, 'too large', { body: JSON.stringify({ name: 'n'.repeat(20_000) }) }, json],
  ])('returns %i when it is %s', async (status, _, init, headers) => {
    const response = await post(init, headers);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: expect.stringMatching(/body/) });
  });

  it('is not read before the token is checked', async () => {
    const response = await post({ body: '{' }, { ...json, Authorization: 'Bearer wrong' });
    expect(response.status).toBe(401);
  });

  it('returns 405 and Allow for an unsupported method', async () => {
    const response = await control(server, 'PUT', '/tenants');
    expect([response.status, response.text]).toEqual([
      405,
      expect.stringContaining('GET, HEAD, POST, DELETE'),
    ]);
    const one = await control(server, 'GET', `/tenants/${second.id}`);
    expect([one.status, one.text]).toEqual([405, expect.stringContaining('use DELETE')]);
  });
});

describe('a tenant that is removed', () => {
  it('no longer exists, nor do its users and mail, and its email can be reused', async () => {
    const tenant = await secondTenant(server, 'Short');
    const invited = 'invited@short.example';
    await server.call('create-user', { token: tenant.token, json: { email: invited } });
    expect(await mailTo(server, invited)).toMatchObject({ tenantId: tenant.id });
    const dropped = await control(server, 'DELETE', `/tenants/${tenant.id}`);
    expect(JSON.parse(dropped.text)).toMatchObject({ id: tenant.id, name: 'Short' });
    expect((await tenants()).map(({ id }) => id)).not.toContain(tenant.id);
    expect((await outbox(server)).map(({ tenantId }) => tenantId)).not.toContain(tenant.id);
    expect((await server.call('count-devices', { token: tenant.token })).status).toBe(401);
    expect((await logIn(server, tenant.adminEmail, tenant.adminPassword)).status).toBe(401);
    const newTenant = await secondTenant(server, 'Short');
    expect(newTenant.id).not.toBe(tenant.id);
    expect((await server.call('count-devices', { token: tenant.token })).status).toBe(401);
  });

  it('is unknown to later calls and to simultaneous removals', async () => {
    const { id } = await secondTenant(server, 'Once');
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => (await control(server, 'DELETE', `/tenants/${id}`)).status),
    );
    expect(statuses.sort()).toEqual([200, 404, 404]);
    const setting = await control(server, 'PUT', `/tenants/${id}/status`, { status: 'active' });
    expect(setting.status).toBe(404);
    expect((await control(server, 'GET', `/clock?tenant=${id}`)).status).toBe(404);
  });

  it.each(['nobody', '..%2f..', '%00', 'constructor', '__proto__'])(
    'returns 404 for %s',
    async (id) => {
      const response = await control(server, 'DELETE', `/tenants/${id}`);
      expect(response.status).toBe(404);
    },
  );

  it('cannot be the first tenant', async () => {
    const [first] = await tenants();
    const response = await control(server, 'DELETE', `/tenants/${first?.id}`);
    expect([response.status, response.text]).toEqual([
      409,
      expect.stringContaining('first tenant'),
    ]);
    expect((await server.call('count-devices', { token: server.adminToken })).status).toBe(200);
  });

  it('returns 401 and not 500 to an upload in progress', async () => {
    const { id, token } = await secondTenant(server, 'Uploads');
    const form = new FormData();
    form.append('artifact', new Blob([new Uint8Array(await artifactBytes())]), 'a.mender');
    const written = new Response(form);
    const bytes = Buffer.from(await written.arrayBuffer());
    const { path } = managementOperations['upload-artifact'];
    const unfinished = request(server.baseUrl + path, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': written.headers.get('content-type') ?? '',
        'Content-Length': bytes.length,
        Expect: '100-continue',
      },
    });
    // The server has admitted the upload once it asks for the rest.
    await once(unfinished.flushHeaders() ?? unfinished, 'continue');
    unfinished.write(bytes.subarray(0, bytes.length - 1));
    await control(server, 'DELETE', `/tenants/${id}`);
    unfinished.end(bytes.subarray(bytes.length - 1));
    const [response] = await once(unfinished, 'response');
    expect(response.statusCode).toBe(401);
    response.resume();
  });

  it('can be every tenant except the first', async () => {
    const created = await Promise.all(['Alpha', 'Beta'].map((name) => secondTenant(server, name)));
    const tenantsBefore = await tenants();
    const dropped = await control(server, 'DELETE', '/tenants');
    expect(JSON.parse(dropped.text)).toEqual(tenantsBefore.slice(1));
    expect(await tenants()).toEqual(tenantsBefore.slice(0, 1));
    for (const { token } of created) {
      expect((await server.call('count-devices', { token })).status).toBe(401);
    }
    expect(JSON.parse((await control(server, 'DELETE', '/tenants')).text)).toEqual([]);
    second = await secondTenant(server);
  });
});

it('the control listener returns 422 for more tenants than the limit', async () => {
  const room = TENANTS_MAX - (await tenants()).length;
  for (let number = 0; number < room; number += 1) {
    const one = { ...validTenant, name: `T${number}`, adminEmail: `admin@t${number}.example` };
    expect((await control(server, 'POST', '/tenants', one)).status).toBe(201);
  }
  const response = await control(server, 'POST', '/tenants', {
    ...validTenant,
    name: 'One too many',
  });
  expect([response.status, response.text]).toEqual([
    422,
    expect.stringContaining(String(TENANTS_MAX)),
  ]);
  expect(await tenants()).toHaveLength(TENANTS_MAX);
});
