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

const fresh = 'another long password';

let server: TestServer;
let second: TestTenant;
let number = 0;

beforeAll(async () => {
  server = await startTestServer();
  second = await secondTenant(server);
});

afterAll(() => server.close());

function newUser(options: Parameters<typeof loggedInUser>[2] = {}): Promise<TestUser> {
  number += 1;
  return loggedInUser(server, `user-${number}@example.com`, options);
}

async function own(token: string): Promise<User> {
  return (await server.call('get-own-user', { token })).json<User>();
}

async function statusOf(token: string): Promise<number> {
  return (await server.call('get-own-user', { token })).status;
}

function update(id: string, json: unknown, token = server.adminToken) {
  return server.call('update-user', { token, parameters: { id }, json });
}

describe.each(['update-own-user-v1', 'update-own-user'] as const)(
  "a change of one's own password by %s",
  (version) => {
    const change = (token: string, json: unknown) => server.call(version, { token, json });

    it('requires the old password and ends all other tokens', async () => {
      const user = await newUser({ roles: [] });
      const { text: otherToken } = await logIn(server, user.email, testPassword);
      const { text: personal } = await server.call('create-personal-token', {
        token: user.token,
        json: { name: 'script' },
      });
      const json = { password: fresh, current_password: testPassword };
      const response = await change(user.token, json);
      expect([response.status, response.text]).toEqual([204, '']);
      expect((await logIn(server, user.email, testPassword)).status).toBe(401);
      expect((await logIn(server, user.email, fresh)).status).toBe(200);
      const statuses = [user.token, otherToken, personal].map(statusOf);
      expect(await Promise.all(statuses)).toEqual([200, 401, 401]);
    });

    it('is in the audit log without any password', async () => {
      const user = await newUser();
      await change(user.token, { password: fresh, current_password: testPassword });
      const [entry] = await entries(server, { object_id: user.id });
      expect(entry).toMatchObject({
        action: 'update',
        actor: { email: user.email },
        object: { type: 'user', user: { email: user.email } },
        change: `Updated user ${user.email}:\n! password`,
      });
    });

    it.each<[number, string, unknown, string]>([
      [422, 'a wrong old password', { current_password: 'wrong' }, 'current_password'],
      [422, 'an empty old password', { current_password: '' }, 'current_password'],
      [422, 'a short new password', { password: '1234567' }, 'at least 8'],
      [422, 'the email as new password', { password: 'USER-' }, 'at least 8'],
      [422, 'a new password like the email', { password: '@example.com' }, 'too similar'],
      [400, 'a new password that is not a string', { password: 12345678 }, 'password'],
      [400, 'an old password that is not a string', { current_password: 5 }, 'current_password'],
      [400, 'a new password that is too long', { password: 'x'.repeat(257) }, 'password'],
    ])('returns %i with %s', async (status, _, wrong, named) => {
      const user = await newUser();
      const right = { password: fresh, current_password: testPassword };
      const response = await change(user.token, { ...right, ...(wrong as object) });
      expect([response.status, response.json().error]).toEqual([
        status,
        expect.stringContaining(named),
      ]);
      expect((await logIn(server, user.email, testPassword)).status).toBe(200);
    });

    it.each([{}, [], 'text', null])('returns 400 for the body %j', async (json) => {
      expect((await change(server.adminToken, json)).status).toBe(400);
    });

    it('does not change the roles of the user', async () => {
      const user = await newUser({ roles: ['RBAC_ROLE_CI'] });
      const json = { password: fresh, current_password: testPassword, roles: [] };
      await change(user.token, json);
      expect((await own(user.token)).roles).toEqual(['RBAC_ROLE_CI']);
    });
  },
);

describe("the version 2 change of one's own user", () => {
  it('returns 400 for an email address and names the operation that changes it', async () => {
    const user = await newUser();
    const json = { email: 'x@example.com', password: fresh, current_password: testPassword };
    const response = await server.call('update-own-user', { token: user.token, json });
    expect(response.status).toBe(400);
    expect(response.json().error).toMatch(/email: is not accepted here.*email-change\/start/);
    expect((await logIn(server, user.email, testPassword)).status).toBe(200);
  });

  it.each(['password', 'current_password'])('returns 400 without %s', async (name) => {
    const json = { password: fresh, current_password: testPassword, [name]: undefined };
    const response = await server.call('update-own-user', { token: server.adminToken, json });
    expect([response.status, response.json().error]).toEqual([400, `body: ${name}: is required`]);
  });
});

describe("the version 1 change of one's own user", () => {
  const change = (token: string, json: unknown) =>
    server.call('update-own-user-v1', { token, json });

  it('changes the email address at once if the password is right', async () => {
    const user = await newUser();
    const json = { email: 'Renamed@example.com', current_password: testPassword };
    expect((await change(user.token, json)).status).toBe(204);
    expect((await own(user.token)).email).toBe('renamed@example.com');
    expect((await logIn(server, user.email, testPassword)).status).toBe(401);
    expect((await logIn(server, 'renamed@example.com', testPassword)).status).toBe(200);
  });

  it.each<[string, () => object]>([
    ['without the password', () => ({ email: 'free@example.com' })],
    ['to one that is taken', () => ({ email: server.adminEmail, current_password: testPassword })],
    [
      'to one of another tenant',
      () => ({ email: second.adminEmail, current_password: testPassword }),
    ],
    [
      'to one like the new password',
      () => ({
        email: `x${fresh.replaceAll(' ', '')}@example.com`,
        password: fresh.replaceAll(' ', ''),
        current_password: testPassword,
      }),
    ],
  ])('returns 422 for a change of the email address %s', async (_, json) => {
    const user = await newUser();
    expect((await change(user.token, json())).status).toBe(422);
    expect((await own(user.token)).email).toBe(user.email);
  });
});

describe('a change of another user', () => {
  it("sets the roles, logs old and new ones, and ends the user's tokens", async () => {
    const user = await newUser({ roles: ['RBAC_ROLE_CI'] });
    const response = await update(user.id, { roles: ['RBAC_ROLE_OBSERVER', 'RBAC_ROLE_CI'] });
    expect(response.status).toBe(204);
    expect(await statusOf(user.token)).toBe(401);
    const [entry] = await entries(server, { object_id: user.id });
    expect(entry).toMatchObject({
      action: 'update',
      actor: { email: server.adminEmail },
      object: { id: user.id, type: 'user', user: { email: user.email } },
      change: [
        `Updated user ${user.email}:`,
        '- roles: ["RBAC_ROLE_CI"]',
        '+ roles: ["RBAC_ROLE_OBSERVER","RBAC_ROLE_CI"]',
      ].join('\n'),
    });
    expect(await statusOf(server.adminToken)).toBe(200);
  });

  it('can set another email address', async () => {
    const user = await newUser();
    expect((await update(user.id, { email: `other-${user.email}` })).status).toBe(204);
    expect((await logIn(server, `other-${user.email}`, testPassword)).status).toBe(200);
  });

  it.each<[number, string, unknown, string]>([
    [422, 'the password', { password: fresh }, 'for another user'],
    [
      422,
      "the password, with the caller's own",
      { password: fresh, current_password: 'x' },
      'another',
    ],
    [422, 'an unknown role', { roles: ['KING'] }, 'KING'],
    [422, 'an email that is taken', { email: 'ADMIN@example.com' }, 'email'],
    [400, 'nothing', {}, 'no change'],
    [400, 'something unknown', { name: 'Bob' }, 'no change'],
    [400, 'roles that are not an array', { roles: 'RBAC_ROLE_CI' }, 'roles'],
    [400, 'an invalid email', { email: 'nobody' }, 'email'],
    [400, 'a list', [], 'body'],
  ])('returns %i for %s', async (status, _, json, named) => {
    const user = await newUser();
    const response = await update(user.id, json);
    expect([response.status, response.json().error]).toEqual([
      status,
      expect.stringContaining(named),
    ]);
    expect(await statusOf(user.token)).toBe(200);
  });

  it('returns 404 for an unknown user and a user of another tenant', async () => {
    const user = await newUser();
    expect((await update('nobody', { roles: [] })).status).toBe(404);
    expect((await update(user.id, { roles: [] }, second.token)).status).toBe(404);
  });

  it('requires the current password if the user is the caller', async () => {
    const user = await newUser();
    const json = { password: fresh };
    expect((await update(user.id, json, user.token)).status).toBe(422);
    const right = { ...json, current_password: testPassword };
    expect((await update(user.id, right, user.token)).status).toBe(204);
    expect(await statusOf(user.token)).toBe(200);
  });

  it('returns 422 if it removes full rights from the last user with them', async () => {
    const { token } = second;
    const { id } = await own(token);
    const response = await update(id, { roles: ['RBAC_ROLE_OBSERVER'] }, token);
    expect([response.status, response.json().error]).toEqual([
      422,
      expect.stringContaining('the last'),
    ]);
    expect((await update(id, { roles: ['RBAC_ROLE_PERMIT_ALL'] }, token)).status).toBe(204);
    await loggedInUser(server, 'heir@second.example', { token });
    expect((await update(id, { roles: ['RBAC_ROLE_OBSERVER'] }, token)).status).toBe(204);
  });
});
