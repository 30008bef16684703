import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../../fixtures/contract/management/users.ts';
import { entries } from '../../testing/test-audit.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import {
  loggedInUser,
  logIn,
  secondTenant,
  type TestTenant,
  type TestUser,
  testPassword,
} from '../../testing/test-tenants.ts';

let server: TestServer;
let second: TestTenant;
let reader: TestUser;

beforeAll(async () => {
  server = await startTestServer();
  second = await secondTenant(server);
  server.clock.advance(1000);
  reader = await loggedInUser(server, 'reader@example.com', { roles: ['RBAC_ROLE_OBSERVER'] });
});

afterAll(() => server.close());

function list(query: Record<string, string> | URLSearchParams = {}, token = server.adminToken) {
  return server.call('list-users', { token, query });
}

async function emails(query: Record<string, string> | URLSearchParams): Promise<string[]> {
  return (await list(query)).json<User[]>().map(({ email }) => email);
}

describe('the list of users', () => {
  it('contains all users of the tenant without any form of password', async () => {
    const response = await list();
    expect(response.json<User[]>()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        email: server.adminEmail,
        roles: [],
        created_ts: '2026-11-21T12:00:00.000Z',
        updated_ts: '2026-11-21T12:00:00.000Z',
      },
      {
        id: reader.id,
        email: 'reader@example.com',
        roles: ['RBAC_ROLE_OBSERVER'],
        created_ts: '2026-11-21T12:00:01.000Z',
        updated_ts: '2026-11-21T12:00:01.000Z',
        login_ts: '2026-11-21T12:00:01.000Z',
      },
    ]);
    expect(response.text).not.toMatch(/password|hash/);
  });

  it('contains no user of another tenant', async () => {
    const users = (await list({}, second.token)).json<User[]>();
    expect(users.map(({ email }) => email)).toEqual([second.adminEmail]);
  });

  it('can be filtered by several IDs and email addresses', async () => {
    expect(await emails({ id: reader.id })).toEqual(['reader@example.com']);
    const both = new URLSearchParams([
      ['email', 'READER@example.com'],
      ['email', server.adminEmail],
      ['email', second.adminEmail],
    ]);
    expect(await emails(both)).toEqual([server.adminEmail, 'reader@example.com']);
    expect(await emails({ id: 'nobody' })).toEqual([]);
  });

  it('can be filtered by the times of creation and change', async () => {
    const start = String(Date.parse('2026-11-21T12:00:00Z') / 1000);
    expect(await emails({ created_after: start })).toEqual(['reader@example.com']);
    expect(await emails({ updated_before: String(Number(start) + 1) })).toEqual([
      server.adminEmail,
    ]);
  });

  it('comes in pages', async () => {
    const response = await list({ per_page: '1', page: '2' });
    expect(response.json<User[]>().map(({ email }) => email)).toEqual(['reader@example.com']);
    expect(response.headers.get('link')).toContain('rel="prev"');
    expect((await list({ page: '9' })).text).toBe('[]');
  });

  it.each([
    { page: '0' },
    { per_page: '501' },
    { per_page: 'many' },
    { created_after: 'yesterday' },
    { updated_before: '-1' },
  ])('returns 400 for the query %j', async (query) => {
    expect((await list(query)).status).toBe(400);
  });
});

describe('a request for one user', () => {
  it('returns the user by ID, and the same to that user', async () => {
    const token = server.adminToken;
    const response = await server.call('get-user', { token, parameters: { id: reader.id } });
    expect(response.json<User>()).toMatchObject({ id: reader.id, email: 'reader@example.com' });
    const own = await server.call('get-own-user', { token: reader.token });
    expect(own.json()).toEqual(response.json());
  });

  it.each(['nobody', '%00', '00000000-0000-4000-8000-000000000000'])(
    'returns 404 for the ID %j',
    async (id) => {
      const response = await server.call('get-user', {
        token: server.adminToken,
        parameters: { id },
      });
      expect(response.status).toBe(404);
    },
  );

  it('returns 404 for a user of another tenant', async () => {
    const call = { token: second.token, parameters: { id: reader.id } };
    expect((await server.call('get-user', call)).status).toBe(404);
  });
});

describe('the deletion of a user', () => {
  function remove(id: string, token = server.adminToken) {
    return server.call('delete-user', { token, parameters: { id } });
  }

  it("ends the user's tokens and login, and is in the audit log", async () => {
    const leaver = await loggedInUser(server, 'leaver@example.com');
    expect((await remove(leaver.id)).status).toBe(204);
    expect((await server.call('get-own-user', { token: leaver.token })).status).toBe(401);
    expect((await logIn(server, leaver.email, testPassword)).status).toBe(401);
    const [entry] = await entries(server, { object_id: leaver.id });
    expect(entry).toMatchObject({
      action: 'delete',
      actor: { type: 'user', email: server.adminEmail },
      object: { id: leaver.id, type: 'user', user: { email: leaver.email } },
    });
  });

  it("frees the user's email address", async () => {
    const one = await loggedInUser(server, 'again@example.com');
    await remove(one.id);
    expect((await loggedInUser(server, 'again@example.com')).id).not.toBe(one.id);
  });

  it("is possible for the user's own account", async () => {
    const leaver = await loggedInUser(server, 'tired@example.com');
    expect((await remove(leaver.id, leaver.token)).status).toBe(204);
    expect((await remove(leaver.id, leaver.token)).status).toBe(401);
  });

  it('returns 404 for an unknown user and a user of another tenant', async () => {
    expect((await remove('nobody')).status).toBe(404);
    expect((await remove(reader.id, second.token)).status).toBe(404);
    expect((await server.call('get-own-user', { token: reader.token })).status).toBe(200);
  });

  it('returns 422 for the last user with full rights, invited ones not counted', async () => {
    const third = await secondTenant(server, 'Third');
    const { token } = third;
    const me = (await server.call('get-own-user', { token })).json<User>();
    await server.call('create-user', { token, json: { email: 'invited@third.example' } });
    await loggedInUser(server, 'limited@third.example', { token, roles: ['RBAC_ROLE_CI'] });
    const response = await remove(me.id, token);
    expect([response.status, response.json().error]).toEqual([
      422,
      expect.stringContaining('the last'),
    ]);
    const heir = await loggedInUser(server, 'heir@third.example', { token });
    expect((await remove(me.id, token)).status).toBe(204);
    expect((await server.call('get-own-user', { token: heir.token })).status).toBe(200);
  });
});
