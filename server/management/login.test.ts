import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

const password = 'p\u00e4ss:word with \u{1f511}';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ adminPassword: password });
});

afterAll(() => server.close());

function basic(email: string, secret: string, scheme = 'Basic'): string {
  return `${scheme} ${Buffer.from(`${email}:${secret}`).toString('base64')}`;
}

function signIn(authorization: string | undefined, json?: unknown) {
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  return server.call('login', { headers, ...(json !== undefined && { json }) });
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

describe('signing in', () => {
  it('gives the bare token of a user', async () => {
    const reply = await signIn(basic(server.adminEmail, password));
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/jwt']);
    expect(reply.text).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect((await server.call('list-devices', { token: reply.text })).status).toBe(200);
  });

  it('gives a token that lasts a week and has an id of its own', async () => {
    const [one, other] = [
      claimsOf((await signIn(basic(server.adminEmail, password))).text),
      claimsOf((await signIn(basic(server.adminEmail, password))).text),
    ];
    expect(Number(one.exp) - Number(one.iat)).toBe(604_800);
    expect(one).toMatchObject({ iss: 'fleetbed', 'svc.user': true });
    expect(one.sub).toBe(other.sub);
    expect(one.jti).not.toBe(other.jti);
  });

  it('gives a token without end when asked for one', async () => {
    const { text: token } = await signIn(basic(server.adminEmail, password), { no_expiry: true });
    expect(claimsOf(token)).not.toHaveProperty('exp');
    const { text: ending } = await signIn(basic(server.adminEmail, password), { no_expiry: false });
    server.clock.advance(52 * 604_800_000);
    expect((await server.call('count-devices', { token })).status).toBe(200);
    expect((await server.call('count-devices', { token: ending })).status).toBe(401);
  });

  it.each(['basic', 'BASIC', 'Basic '])('takes the scheme %j', async (scheme) => {
    expect((await signIn(basic(server.adminEmail, password, scheme))).status).toBe(200);
  });
});

describe('a login that is refused', () => {
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
    ['another e-mail', () => basic('other@example.com', password)],
    ['an e-mail in capitals', () => basic(server.adminEmail.toUpperCase(), password)],
    ['no e-mail', () => basic('', password)],
    ['no colon', () => `Basic ${Buffer.from(server.adminEmail).toString('base64')}`],
    ['SQL for an e-mail', () => basic("' OR 1=1 --", password)],
    ['bytes that are no text', () => `Basic ${Buffer.from([0xff, 0xfe, 0x3a]).toString('base64')}`],
  ])('is 401 with %s, and does not tell which half was wrong', async (_, authorization) => {
    const reply = await signIn(authorization());
    expect(reply.status).toBe(401);
    expect(reply.json().error).toBe(
      'unauthorized: sign in with HTTP Basic, the e-mail and password of a user',
    );
    expect(reply.text).not.toContain('eyJ');
  });

  it.each([[], 'text', { no_expiry: 'yes' }, { no_expiry: null }])(
    'is 400 with the body %j, whatever the password',
    async (json) => {
      expect((await signIn(basic(server.adminEmail, password), json)).status).toBe(400);
    },
  );

  it('is 415 with a body that is no JSON', async () => {
    const headers = { Authorization: basic(server.adminEmail, password) };
    expect((await server.call('login', { headers, body: 'no_expiry=true' })).status).toBe(415);
  });
});
