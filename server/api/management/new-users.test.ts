import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../../fixtures/contract/management/users.ts';
import { entries } from '../../testing/test-audit.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import {
  logIn,
  mailTo,
  outbox,
  secondTenant,
  type TestTenant,
} from '../../testing/test-tenants.ts';

const validUser = { email: 'new@example.com', password: 'long enough' };

let server: TestServer;
let second: TestTenant;

beforeAll(async () => {
  server = await startTestServer();
  second = await secondTenant(server);
});

afterAll(() => server.close());

type Version = 'create-user-v1' | 'create-user';
const versions: readonly Version[] = ['create-user-v1', 'create-user'];

function create(version: Version, json: unknown, token = server.adminToken) {
  return server.call(version, { token, json });
}

/** Returns a valid body for this version with the email address. */
function bodyFor(version: Version, email: string): Record<string, unknown> {
  return version === 'create-user' ? { email } : { ...validUser, email };
}

async function count(): Promise<number> {
  return (await server.call('list-users', { token: server.adminToken })).json<User[]>().length;
}

describe.each(versions)('the creation of a user by %s', (version) => {
  const address = `${version}@example.com`;

  it('returns 201 with a Location, and is in the audit log', async () => {
    const body = { ...bodyFor(version, address), roles: ['RBAC_ROLE_CI'] };
    const response = await create(version, body);
    expect([response.status, response.text]).toEqual([201, '']);
    const location = response.headers.get('location') ?? '';
    const created = await server.request('GET', location, { token: server.adminToken });
    const user = created.json<User>();
    expect(user).toMatchObject({ email: address, roles: ['RBAC_ROLE_CI'] });
    const [entry] = await entries(server, { object_id: user.id });
    expect(entry).toMatchObject({
      action: 'create',
      object: { id: user.id, type: 'user', user: { email: address } },
      change: 'roles: RBAC_ROLE_CI',
    });
  });

  it('returns 422 for a taken email address, in any letter case and tenant', async () => {
    const countBefore = await count();
    for (const email of [address, address.toUpperCase(), second.adminEmail]) {
      const response = await create(version, bodyFor(version, email));
      expect([response.status, response.json().error]).toEqual([
        422,
        expect.stringContaining('email'),
      ]);
    }
    expect(await count()).toBe(countBefore);
  });

  it.each<[string, unknown, string]>([
    ['no email', { email: undefined }, 'email'],
    ['an email that is not a string', { email: 5 }, 'email'],
    ['an email without @', { email: 'somebody' }, 'email'],
    ['an email with two @', { email: 'a@b@c' }, 'email'],
    ['an email with a colon', { email: 'a:b@example.com' }, 'email'],
    ['an email with a space', { email: 'a b@example.com' }, 'email'],
    ['an email beyond ASCII', { email: 'm\u00fcller@example.com' }, 'email'],
    ['an email that is too long', { email: `${'a'.repeat(250)}@b.example` }, 'email'],
    ['roles that are not an array', { roles: 'RBAC_ROLE_CI' }, 'roles'],
    ['a role that is not a string', { roles: [7] }, 'roles'],
    ['an empty role', { roles: [''] }, 'roles'],
    ['too many roles', { roles: Array(21).fill('RBAC_ROLE_CI') }, 'roles'],
  ])('returns 400 for %s, with the field name in the error', async (_, change, named) => {
    const body = { ...bodyFor(version, 'bad@example.com'), ...(change as object) };
    const response = await create(version, body);
    expect([response.status, response.json().error]).toEqual([400, expect.stringContaining(named)]);
  });

  it.each([[], 'text', null])('returns 400 for the body %j', async (json) => {
    expect((await create(version, json)).status).toBe(400);
  });

  it('returns 413 for a body that is too large', async () => {
    const body = { ...bodyFor(version, 'big@example.com'), note: 'x'.repeat(1_100_000) };
    expect((await create(version, body)).status).toBe(413);
  });

  it('returns 422 for an unknown role', async () => {
    const body = { ...bodyFor(version, 'role@example.com'), roles: ['RBAC_ROLE_KING'] };
    const response = await create(version, body);
    expect([response.status, response.json().error]).toEqual([
      422,
      expect.stringContaining('KING'),
    ]);
  });

  it('adds the user to the tenant of the caller', async () => {
    const email = `${version}@second.example`;
    const response = await create(version, bodyFor(version, email), second.token);
    const id = response.headers.get('location')?.split('/').at(-1) ?? '';
    const call = { parameters: { id } };
    const own = await server.call('get-user', { ...call, token: second.token });
    const foreign = await server.call('get-user', { ...call, token: server.adminToken });
    expect([own.status, foreign.status]).toEqual([200, 404]);
  });
});

describe('the version 1 creation of a user', () => {
  it('allows a login with the password at once', async () => {
    await create('create-user-v1', { ...validUser, email: 'Mixed@Example.com' });
    expect((await logIn(server, 'mixed@example.com', validUser.password)).status).toBe(200);
  });

  it.each([
    ['1234567', 'at least 8 characters'],
    ['similar@example.com', 'too similar'],
    ['SIMILAR@exam', 'too similar'],
  ])('returns 422 for the password %j', async (password, reason) => {
    const response = await create('create-user-v1', { email: 'similar@example.com', password });
    expect([response.status, response.json().error]).toEqual([
      422,
      expect.stringContaining(reason),
    ]);
  });

  it.each([undefined, '', null, 12345678, 'x'.repeat(257)])(
    'returns 400 for the password %j',
    async (password) => {
      const response = await create('create-user-v1', { email: 'pw@example.com', password });
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringContaining('password'),
      ]);
    },
  );

  it('can send a message to set the password instead', async () => {
    const email = 'by-mail@example.com';
    const response = await create('create-user-v1', { email, send_reset_password: true });
    expect(response.status).toBe(201);
    expect(await mailTo(server, email)).toMatchObject({ kind: 'password-reset' });
  });

  it('sends no message if a password is given', async () => {
    await create('create-user-v1', { ...validUser, email: 'no-mail@example.com' });
    expect((await outbox(server)).map(({ to }) => to)).not.toContain('no-mail@example.com');
  });
});

describe('the version 2 creation of a user', () => {
  it.each(['password', 'send_reset_password'])(
    'returns 400 for the field %s, with its name in the error',
    async (name) => {
      for (const value of ['long enough', true, null]) {
        const response = await create('create-user', { email: 'v2@example.com', [name]: value });
        expect(response.status).toBe(400);
        expect(response.json().error).toMatch(new RegExp(`${name}: is not accepted here.*invited`));
      }
      expect((await outbox(server)).map(({ to }) => to)).not.toContain('v2@example.com');
    },
  );

  it('sends an invitation, and refuses logins until a password is set', async () => {
    await create('create-user', { email: 'invited@example.com' });
    expect(await mailTo(server, 'invited@example.com')).toMatchObject({ kind: 'invitation' });
    for (const password of ['', 'undefined', 'null', validUser.password]) {
      expect((await logIn(server, 'invited@example.com', password)).status).toBe(401);
    }
  });
});
