import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PersonalToken } from '../../../fixtures/contract/management/tokens.ts';
import { entries } from '../../testing/test-audit.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import {
  loggedInUser,
  logIn,
  secondTenant,
  type TestTenant,
  testPassword,
} from '../../testing/test-tenants.ts';

const year = 31_536_000;

let server: TestServer;
let second: TestTenant;
let number = 0;

beforeAll(async () => {
  server = await startTestServer({ tokenLifetimeSeconds: 3 * year });
  second = await secondTenant(server);
});

afterAll(() => server.close());

function newUser() {
  number += 1;
  return loggedInUser(server, `user-${number}@example.com`);
}

function create(token: string, json: unknown) {
  return server.call('create-personal-token', { token, json });
}

async function list(token: string): Promise<PersonalToken[]> {
  return (await server.call('list-personal-tokens', { token })).json<PersonalToken[]>();
}

function revoke(token: string, id: string) {
  return server.call('revoke-personal-token', { token, parameters: { id } });
}

async function statusOf(token: string): Promise<number> {
  return (await server.call('count-devices', { token })).status;
}

describe('a personal access token', () => {
  it('is returned once as a bare token and identifies its user', async () => {
    const user = await newUser();
    const response = await create(user.token, { name: 'ci' });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/jwt',
    ]);
    expect(response.text).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    const me = await server.call('get-own-user', { token: response.text });
    expect(me.json()).toMatchObject({ id: user.id });
    expect(JSON.stringify(await list(user.token))).not.toContain(response.text.slice(-20));
  });

  it('is listed with its times, and with its last use accurate to five minutes', async () => {
    const user = await newUser();
    const { text: token } = await create(user.token, { name: 'ci', expires_in: 3600 });
    const created = server.clock.now();
    const timeAt = (seconds: number) => new Date(created + seconds * 1000).toISOString();
    const fresh = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'ci',
      created_ts: timeAt(0),
      expiration_date: timeAt(3600),
    };
    expect(await list(user.token)).toEqual([fresh]);
    await statusOf(token);
    server.clock.advance(299_000);
    await statusOf(token);
    expect(await list(user.token)).toEqual([{ ...fresh, last_used: timeAt(0) }]);
    server.clock.advance(1000);
    await statusOf(token);
    expect(await list(user.token)).toEqual([{ ...fresh, last_used: timeAt(300) }]);
  });

  it('expires as requested and then frees its name', async () => {
    const user = await newUser();
    const { text: token } = await create(user.token, { name: 'short', expires_in: 60 });
    server.clock.advance(60_000);
    expect(await statusOf(token)).toBe(401);
    expect(await list(user.token)).toEqual([]);
    expect((await create(user.token, { name: 'short' })).status).toBe(200);
  });

  it.each([undefined, 0])('does not expire if expires_in is %j', async (expires_in) => {
    const user = await newUser();
    const { text: token } = await create(user.token, { name: 'endless', expires_in });
    const [shown] = await list(user.token);
    expect(shown).not.toHaveProperty('expiration_date');
    server.clock.advance(40 * 86_400_000);
    expect(await statusOf(token)).toBe(200);
  });

  it('returns 401 once it is revoked', async () => {
    const user = await newUser();
    const { text: token } = await create(user.token, { name: 'ci' });
    const [shown] = await list(user.token);
    expect((await revoke(user.token, shown?.id ?? '')).status).toBe(204);
    const refused = await server.call('count-devices', { token });
    expect([refused.status, refused.json().error]).toEqual([
      401,
      'the token has been revoked, or its session has ended; log in again',
    ]);
    expect(await list(user.token)).toEqual([]);
  });

  it('is not a session, so many logins do not end it', async () => {
    const user = await newUser();
    const { text: token } = await create(user.token, { name: 'ci' });
    for (let count = 0; count < 11; count += 1) await logIn(server, user.email, testPassword);
    expect([await statusOf(user.token), await statusOf(token)]).toEqual([401, 200]);
  });

  it('is in the audit log by its name as a change of its user', async () => {
    const user = await newUser();
    await create(user.token, { name: 'audited' });
    const [shown] = await list(user.token);
    await revoke(user.token, shown?.id ?? '');
    const logs = await entries(server, { object_id: user.id });
    expect(logs.slice(0, 2)).toEqual(
      ['Revoked', 'Created'].map((did) =>
        expect.objectContaining({
          action: 'update',
          object: { id: user.id, type: 'user', user: { email: user.email } },
          change: `${did} personal access token audited`,
        }),
      ),
    );
  });
});

describe('the creation of a personal access token', () => {
  it.each<[string, unknown, string]>([
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name that is not a string', { name: 7 }, 'name'],
    ['a name that is too long', { name: 'n'.repeat(257) }, 'name'],
    ['a lifetime below 0', { name: 'x', expires_in: -1 }, 'expires_in'],
    ['a lifetime of more than a year', { name: 'x', expires_in: year + 1 }, 'expires_in'],
    ['a broken lifetime', { name: 'x', expires_in: 1.5 }, 'expires_in'],
    ['a lifetime that is text', { name: 'x', expires_in: '60' }, 'expires_in'],
    ['a list', [], 'body'],
  ])('returns 400 for %s', async (_, json, named) => {
    const response = await create(server.adminToken, json);
    expect([response.status, response.json().error]).toEqual([400, expect.stringContaining(named)]);
    expect(await list(server.adminToken)).toEqual([]);
  });

  it('accepts a lifetime of a whole year', async () => {
    const user = await newUser();
    expect((await create(user.token, { name: 'x', expires_in: year })).status).toBe(200);
  });

  it('returns 409 for a second token of the user with the same name', async () => {
    const [one, other] = [await newUser(), await newUser()];
    await create(one.token, { name: 'same' });
    const response = await create(one.token, { name: 'same' });
    expect([response.status, response.json().error]).toEqual([
      409,
      expect.stringContaining('same'),
    ]);
    expect((await create(other.token, { name: 'same' })).status).toBe(200);
  });

  it('returns 422 beyond ten tokens until one is revoked', async () => {
    const user = await newUser();
    for (let count = 0; count < 10; count += 1) {
      expect((await create(user.token, { name: `t${count}` })).status).toBe(200);
    }
    const response = await create(user.token, { name: 'one too many' });
    expect([response.status, response.json().error]).toEqual([422, expect.stringContaining('10')]);
    const [first] = await list(user.token);
    await revoke(user.token, first?.id ?? '');
    expect((await create(user.token, { name: 'one too many' })).status).toBe(200);
  });
});

describe('the list of personal access tokens', () => {
  it('comes in pages', async () => {
    const user = await newUser();
    for (const name of ['a', 'b', 'c']) await create(user.token, { name });
    const page = (query: Record<string, string>) =>
      server.call('list-personal-tokens', { token: user.token, query });
    const response = await page({ per_page: '2', page: '2' });
    expect(response.json<PersonalToken[]>().map(({ name }) => name)).toEqual(['c']);
    expect(response.headers.get('link')).toContain('rel="prev"');
    expect((await page({ page: '3' })).text).toBe('[]');
    expect((await page({ per_page: '501' })).status).toBe(400);
  });
});

describe('the revocation of a personal access token', () => {
  it('returns 404 for an unknown ID', async () => {
    expect((await revoke(server.adminToken, 'nothing')).status).toBe(404);
  });

  it('returns 404 for the token of another user, which stays valid', async () => {
    const user = await newUser();
    const { text: token } = await create(user.token, { name: 'mine' });
    const [shown] = await list(user.token);
    for (const otherToken of [server.adminToken, second.token]) {
      expect((await revoke(otherToken, shown?.id ?? '')).status).toBe(404);
    }
    expect(await statusOf(token)).toBe(200);
  });

  it('returns 404 for the ID of a session, which stays valid', async () => {
    const user = await newUser();
    const claims = Buffer.from(user.token.split('.')[1] ?? '', 'base64url').toString();
    const { jti } = JSON.parse(claims) as { jti: string };
    expect((await revoke(user.token, jti)).status).toBe(404);
    expect(await statusOf(user.token)).toBe(200);
  });
});
