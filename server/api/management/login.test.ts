import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

const password = 'p\u00e4ss:word with \u{1f511}';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ adminPassword: password });
});

afterAll(() => server.close());

function basic(email: string, secret: string, scheme = 'Basic'): string {
  return `${scheme} ${Buffer.from(`${email}:${secret}`).toString('base64')}`;
}

function logIn(authorization: string | undefined, json?: unknown) {
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  return server.call('login', { headers, ...(json !== undefined && { json }) });
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

describe('a login', () => {
  it('returns the bare token of the user', async () => {
    const response = await logIn(basic(server.adminEmail, password));
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/jwt',
    ]);
    expect(response.text).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect((await server.call('list-devices', { token: response.text })).status).toBe(200);
  });

  it('returns a token that is valid for a week and has a unique ID', async () => {
    const [one, other] = [
      claimsOf((await logIn(basic(server.adminEmail, password))).text),
      claimsOf((await logIn(basic(server.adminEmail, password))).text),
    ];
    expect(Number(one.exp) - Number(one.iat)).toBe(604_800);
    expect(one).toMatchObject({ iss: 'fleetbed', 'svc.user': true });
    expect(one.sub).toBe(other.sub);
    expect(one.jti).not.toBe(other.jti);
  });

  it('returns a token without expiry if no_expiry is true', async () => {
    const { text: token } = await logIn(basic(server.adminEmail, password), { no_expiry: true });
    expect(claimsOf(token)).not.toHaveProperty('exp');
    const { text: ending } = await logIn(basic(server.adminEmail, password), { no_expiry: false });
    server.clock.advance(52 * 604_800_000);
    expect((await server.call('count-devices', { token })).status).toBe(200);
    expect((await server.call('count-devices', { token: ending })).status).toBe(401);
  });

  it('ignores the letter case of the email address', async () => {
    expect((await logIn(basic(server.adminEmail.toUpperCase(), password))).status).toBe(200);
  });

  it.each(['basic', 'BASIC', 'Basic '])('accepts the scheme %j', async (scheme) => {
    expect((await logIn(basic(server.adminEmail, password, scheme))).status).toBe(200);
  });
});

describe('a refused login', () => {
  it.each<[string, () => string | undefined]>([
    ['no Authorization', () => undefined],
    ['an empty one', () => ''],
    ['the scheme alone', () => 'Basic'],
    ['another scheme', () => basic(server.adminEmail, password, 'Bearer')],
    ['a user token', () => `Bearer ${server.adminToken}`],
    ['credentials in the clear', () => `Basic ${server.adminEmail}:secret-1`],
    ['another password', () => basic(server.adminEmail, 'other')],
    ['an empty password', () => basic(server.adminEmail, '')],
    ['a part of the password', () => basic(server.adminEmail, password.slice(0, -2))],
    ['the password up to its colon', () => basic(server.adminEmail, password.split(':')[0] ?? '')],
    ['another email', () => basic('other@example.com', password)],
    ['no email', () => basic('', password)],
    ['no colon', () => `Basic ${Buffer.from(server.adminEmail).toString('base64')}`],
    ['SQL for an email', () => basic("' OR 1=1 --", password)],
    [
      'bytes that are not text',
      () => `Basic ${Buffer.from([0xff, 0xfe, 0x3a]).toString('base64')}`,
    ],
  ])('returns 401 for %s, with one error text for all cases', async (_, authorization) => {
    const response = await logIn(authorization());
    expect(response.status).toBe(401);
    expect(response.json().error).toBe(
      'unauthorized: log in with HTTP Basic and the email address and password of a user',
    );
    expect(response.text).not.toContain('eyJ');
  });

  it.each([[], 'text', { no_expiry: 'yes' }, { no_expiry: null }])(
    'returns 400 for the body %j even with the right password',
    async (json) => {
      expect((await logIn(basic(server.adminEmail, password), json)).status).toBe(400);
    },
  );

  it('returns 415 for a body that is not JSON', async () => {
    const headers = { Authorization: basic(server.adminEmail, password) };
    expect((await server.call('login', { headers, body: 'no_expiry=true' })).status).toBe(415);
  });
});

/** Runs the act with a new server, because sessions from other tests would count. */
async function withServer(act: (own: TestServer) => Promise<void>): Promise<void> {
  const own = await startTestServer({ adminPassword: password });
  try {
    await act(own);
  } finally {
    await own.close();
  }
}

async function statusOf(own: TestServer, token: string): Promise<number> {
  return (await own.call('get-own-user', { token })).status;
}

describe('a logout', () => {
  it('ends only the session of its token', async () => {
    const [{ text: token }, { text: otherToken }] = [
      await logIn(basic(server.adminEmail, password)),
      await logIn(basic(server.adminEmail, password)),
    ];
    const response = await server.call('logout', { token });
    expect([response.status, response.text]).toEqual([202, '']);
    const refused = await server.call('count-devices', { token });
    expect(refused.status).toBe(401);
    expect(refused.json().error).toBe(
      'the token has been revoked, or its session has ended; log in again',
    );
    expect((await server.call('count-devices', { token: otherToken })).status).toBe(200);
  });

  it('returns 401 at the second call', async () => {
    const { text: token } = await logIn(basic(server.adminEmail, password));
    await server.call('logout', { token });
    expect((await server.call('logout', { token })).status).toBe(401);
  });

  it('can end a personal access token too', async () => {
    const { text: session } = await logIn(basic(server.adminEmail, password));
    const { text: token } = await server.call('create-personal-token', {
      token: session,
      json: { name: 'to be logged out' },
    });
    expect((await server.call('logout', { token })).status).toBe(202);
    expect(await statusOf(server, token)).toBe(401);
  });
});

describe('the sessions of a user', () => {
  it('are limited to ten: the oldest one ends, but not the startup token', () =>
    withServer(async (own) => {
      const tokens: string[] = [];
      for (let number = 0; number < 11; number += 1) {
        tokens.push((await logInToOwn(own)).text);
        own.clock.advance(1000);
      }
      const statuses = await Promise.all(tokens.map((token) => statusOf(own, token)));
      expect(statuses).toEqual([401, ...Array(10).fill(200)]);
      expect(await statusOf(own, own.adminToken)).toBe(200);
    }));

  it('do not count after a logout', () =>
    withServer(async (own) => {
      const { text: first } = await logInToOwn(own);
      for (let number = 0; number < 20; number += 1) {
        const { text: token } = await logInToOwn(own);
        await own.call('logout', { token });
      }
      expect(await statusOf(own, first)).toBe(200);
    }));
});

function logInToOwn(own: TestServer) {
  return own.call('login', { headers: { Authorization: basic(own.adminEmail, password) } });
}

describe('a flood of 300 logins', () => {
  it('gets 429 beyond a limit and does not block other requests', async () => {
    const { text: token } = await logIn(basic(server.adminEmail, password));
    const flood = Promise.all(
      Array.from({ length: 300 }, (_, each) => logIn(basic(`nobody-${each}@example.com`, 'x'))),
    );
    const countResponse = await server.call('count-devices', { token });
    const responses = await flood;
    expect(countResponse.status).toBe(200);
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect(responses.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(100);
    expect(refused.length + responses.filter(({ status }) => status === 401).length).toBe(300);
    expect((await logIn(basic(server.adminEmail, password))).status).toBe(200);
  });
});
