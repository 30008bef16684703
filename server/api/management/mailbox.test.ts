import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../../fixtures/contract/management/users.ts';
import { entries } from '../../testing/test-audit.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import {
  loggedInUser,
  logIn,
  mailTo,
  outbox,
  secondTenant,
  setTenantStatus,
  type TestTenant,
  type TestUser,
  testPassword,
} from '../../testing/test-tenants.ts';

const day = 86_400_000;
const fresh = 'another long password';

let server: TestServer;
let second: TestTenant;
let number = 0;

beforeAll(async () => {
  server = await startTestServer({ tokenLifetimeSeconds: 300 * 86_400 });
  second = await secondTenant(server);
});

afterAll(() => server.close());

function address(): string {
  number += 1;
  return `user-${number}@example.com`;
}

async function invited(token = server.adminToken): Promise<string> {
  const email = address();
  const response = await server.call('create-user', { token, json: { email } });
  expect(response.status).toBe(201);
  return email;
}

/** Sends a POST to the link of a message, as curl would. */
async function follow(link: string, json?: unknown): Promise<Response> {
  const headers = json === undefined ? {} : { 'Content-Type': 'application/json' };
  const body = json === undefined ? null : JSON.stringify(json);
  return fetch(link, { method: 'POST', headers, body });
}

function complete(json: unknown, query: Record<string, string> = {}) {
  return server.call('complete-password-reset', { json, query });
}

describe('the link of an invitation', () => {
  it('contains the secret and the server address that the caller used', async () => {
    const { link, secret } = await mailTo(server, await invited());
    const url = new URL(link);
    expect([url.origin, url.search]).toEqual([server.baseUrl, `?secret_hash=${secret}`]);
  });

  it('contains the host of the proxy that forwarded the request', async () => {
    const proxied = await startTestServer({ trustProxy: true });
    const headers = { 'X-Forwarded-Host': 'fleet.example', 'X-Forwarded-Proto': 'https' };
    const json = { email: 'behind@example.com' };
    await proxied.call('create-user', { token: proxied.adminToken, json, headers });
    const { link } = await mailTo(proxied, json.email);
    expect(link).toMatch(/^https:\/\/fleet\.example\/api\/management\//);
    await proxied.close();
  });

  it('sets the password with which the user can log in', async () => {
    const email = await invited();
    const { link } = await mailTo(server, email);
    const response = await follow(link, { password: fresh });
    expect([response.status, await response.text()]).toEqual([202, '']);
    expect((await logIn(server, email, fresh)).status).toBe(200);
  });

  it('shows a self-contained form in a browser that POSTs to the same link', async () => {
    const { link } = await mailTo(server, await invited());
    const page = await fetch(link, { headers: { Accept: 'text/html,*/*;q=0.8' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    const html = await page.text();
    expect(html).toMatch(/<input [^>]*type="password"/);
    expect(html).toContain("fetch(location.href, { method: 'POST'");
    expect(html).not.toContain('secret_hash');
    expect((await fetch(link)).status).toBe(405);
  });

  it('has an alternative: the secret can be in the body', async () => {
    const email = await invited();
    const { secret } = await mailTo(server, email);
    expect((await complete({ secret_hash: secret, password: fresh })).status).toBe(202);
    expect((await logIn(server, email, fresh)).status).toBe(200);
  });

  it('can be used once', async () => {
    const email = await invited();
    const { link } = await mailTo(server, email);
    await follow(link, { password: fresh });
    expect((await follow(link, { password: 'yet another one' })).status).toBe(400);
    expect((await logIn(server, email, fresh)).status).toBe(200);
  });

  it('is valid for seven days', async () => {
    const [inTime, tooLate] = [await invited(), await invited()];
    const [one, other] = [await mailTo(server, inTime), await mailTo(server, tooLate)];
    server.clock.advance(7 * day - 1000);
    expect((await follow(one.link, { password: fresh })).status).toBe(202);
    server.clock.advance(1000);
    const late = await follow(other.link, { password: fresh });
    expect([late.status, await late.text()]).toEqual([400, expect.stringContaining('expired')]);
  });

  it.each<[number, string, unknown, string]>([
    [400, 'no password', {}, 'password'],
    [400, 'a password that is not a string', { password: 12345678 }, 'password'],
    [422, 'a short password', { password: '1234567' }, 'at least 8'],
    [400, 'a list', [], 'body'],
  ])('returns %i for %s, and can still be used', async (status, _, json, named) => {
    const email = await invited();
    const { link } = await mailTo(server, email);
    const response = await follow(link, json);
    expect([response.status, await response.text()]).toEqual([
      status,
      expect.stringContaining(named),
    ]);
    expect((await follow(link, { password: fresh })).status).toBe(202);
  });

  it('returns 422 for the email address as password', async () => {
    const email = await invited();
    const { link } = await mailTo(server, email);
    expect((await follow(link, { password: email.toUpperCase() })).status).toBe(422);
  });

  it.each([undefined, '', 'unknown', 'x'.repeat(300)])(
    'returns 400 with the secret %j',
    async (secret) => {
      expect((await complete({ secret_hash: secret, password: fresh })).status).toBe(400);
    },
  );

  it('does not work with the secret of an email change', async () => {
    const user = await loggedInUser(server, address());
    await start(user, { email: `new-${user.email}` });
    const { secret } = await mailTo(server, `new-${user.email}`);
    expect((await complete({ secret_hash: secret, password: fresh })).status).toBe(400);
  });

  it('works for another tenant, whose audit log gets the entry', async () => {
    const email = await invited(second.token);
    const message = await mailTo(server, email);
    expect(message.tenantId).toBe(second.id);
    await follow(message.link, { password: fresh });
    const { text: token } = await logIn(server, email, fresh);
    const me = (await server.call('get-own-user', { token })).json<User>();
    const logs = await server.call('list-audit-logs', { token, query: { object_id: me.id } });
    expect(logs.json<{ change?: string }[]>()[0]).toMatchObject({
      action: 'update',
      actor: { email },
      change: 'set a password through an emailed link',
    });
  });

  it('is invalid once the user is deleted', async () => {
    const email = await invited();
    const { link } = await mailTo(server, email);
    const found = await server.call('list-users', { token: server.adminToken, query: { email } });
    const id = found.json<User[]>()[0]?.id ?? '';
    await server.call('delete-user', { token: server.adminToken, parameters: { id } });
    expect((await follow(link, { password: fresh })).status).toBe(400);
  });

  it('returns 401 while the tenant is suspended', async () => {
    const email = await invited(second.token);
    const { link } = await mailTo(server, email);
    await setTenantStatus(server, second.id, 'suspended');
    const response = await follow(link, { password: fresh });
    expect([response.status, await response.text()]).toEqual([
      401,
      expect.stringContaining('suspended'),
    ]);
    await setTenantStatus(server, second.id, 'active');
    expect((await follow(link, { password: fresh })).status).toBe(202);
  });
});

function start(user: TestUser, json: unknown) {
  return server.call('start-email-change', { token: user.token, json });
}

describe("a change of the user's own email address", () => {
  it('takes effect only through the link sent to the new address', async () => {
    const user = await loggedInUser(server, address());
    const email = `new-${user.email}`;
    const response = await start(user, { email, current_password: testPassword });
    expect([response.status, response.text]).toEqual([202, '']);
    expect((await logIn(server, user.email, testPassword)).status).toBe(200);
    expect((await logIn(server, email, testPassword)).status).toBe(401);
    const message = await mailTo(server, email);
    expect(message.kind).toBe('email-change');
    expect((await follow(message.link)).status).toBe(204);
    expect((await logIn(server, user.email, testPassword)).status).toBe(401);
    expect((await logIn(server, email, testPassword)).status).toBe(200);
    expect((await server.call('get-own-user', { token: user.token })).status).toBe(200);
    const [entry] = await entries(server, { object_id: user.id });
    expect(entry?.change).toBe(
      `Updated user ${user.email}:\n- email: ${user.email}\n+ email: ${email}`,
    );
  });

  it('is in the audit log from the request on', async () => {
    const user = await loggedInUser(server, address());
    const email = `new-${user.email}`;
    await start(user, { email });
    const [entry] = await entries(server, { object_id: user.id });
    expect(entry).toMatchObject({
      action: 'update',
      actor: { id: user.id },
      change: `requested a change of the email address to ${email}; confirmation is pending`,
    });
  });

  it('returns 202 without a password, but 422 with a wrong one', async () => {
    const user = await loggedInUser(server, address());
    const email = `new-${user.email}`;
    expect((await start(user, { email, current_password: 'wrong' })).status).toBe(422);
    expect((await outbox(server)).map(({ to }) => to)).not.toContain(email);
    expect((await start(user, { email })).status).toBe(202);
  });

  it.each<[number, string, () => unknown]>([
    [400, 'no email', () => ({})],
    [400, 'an invalid email', () => ({ email: 'nobody' })],
    [400, 'an email that is not a string', () => ({ email: ['a@example.com'] })],
    [400, 'a list', () => []],
    [422, 'an email that is taken', () => ({ email: server.adminEmail.toUpperCase() })],
    [422, 'an email of another tenant', () => ({ email: second.adminEmail })],
  ])('returns %i with %s', async (status, _, json) => {
    const user = await loggedInUser(server, address());
    expect((await start(user, json())).status).toBe(status);
  });

  it('returns 422 for the address that the user already has', async () => {
    const user = await loggedInUser(server, address());
    expect((await start(user, { email: user.email })).status).toBe(422);
  });

  it('returns 409 while another change is pending, which expires after a day', async () => {
    const user = await loggedInUser(server, address());
    await start(user, { email: `one-${user.email}` });
    const secondStart = await start(user, { email: `two-${user.email}` });
    expect([secondStart.status, secondStart.json().error]).toEqual([
      409,
      expect.stringContaining('until'),
    ]);
    server.clock.advance(day);
    const { link } = await mailTo(server, `one-${user.email}`);
    expect((await follow(link)).status).toBe(400);
    expect((await start(user, { email: `two-${user.email}` })).status).toBe(202);
  });

  it('can be completed once', async () => {
    const user = await loggedInUser(server, address());
    await start(user, { email: `new-${user.email}` });
    const { secret } = await mailTo(server, `new-${user.email}`);
    const json = { secret_hash: secret };
    expect((await server.call('complete-email-change', { json })).status).toBe(204);
    expect((await server.call('complete-email-change', { json })).status).toBe(400);
  });

  it('returns 409 if another user has taken the address meanwhile', async () => {
    const user = await loggedInUser(server, address());
    const email = `raced-${user.email}`;
    await start(user, { email });
    const { link } = await mailTo(server, email);
    await server.call('create-user', { token: second.token, json: { email } });
    expect((await follow(link)).status).toBe(409);
    expect((await logIn(server, user.email, testPassword)).status).toBe(200);
  });

  it.each([{}, { secret_hash: 'unknown' }, { secret_hash: 7 }, []])(
    'returns 400 at its completion with the body %j',
    async (json) => {
      expect((await server.call('complete-email-change', { json })).status).toBe(400);
    },
  );
});

describe('four concurrent requests with one secret', () => {
  it('use the secret exactly once', async () => {
    const { secret: secret_hash } = await mailTo(server, await invited());
    const responses = await Promise.all(
      Array.from({ length: 4 }, () => complete({ secret_hash, password: fresh })),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([202, 400, 400, 400]);
  });
});
