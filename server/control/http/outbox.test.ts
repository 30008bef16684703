import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control, outbox } from '../../testing/test-tenants.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

function invite(email: string) {
  return server.call('create-user', { token: server.adminToken, json: { email } });
}

describe('the outbox on the control listener', () => {
  it('shows the mail of a real server with its link and expiry', async () => {
    expect(await outbox(server)).toEqual([]);
    await invite('one@example.com');
    const [message] = await outbox(server);
    expect(message).toEqual({
      id: expect.any(String),
      tenantId: expect.any(String),
      kind: 'invitation',
      to: 'one@example.com',
      link: expect.stringContaining(`?secret_hash=${message?.secret}`),
      secret: expect.stringMatching(/^[\w-]{43}$/),
      createdAt: '2026-11-21T12:00:00.000Z',
      expiresAt: '2026-11-28T12:00:00.000Z',
    });
  });

  it('is emptied on request', async () => {
    await invite('two@example.com');
    const { status, text } = await control(server, 'DELETE', '/outbox');
    expect([status, text]).toEqual([204, '']);
    expect(await outbox(server)).toEqual([]);
  });

  it.each(['POST', 'PUT', 'PATCH'])('returns 405 for the method %s', async (method) => {
    expect((await control(server, method, '/outbox')).status).toBe(405);
  });

  it('returns 401 without the control token', async () => {
    for (const Authorization of ['', `Bearer ${server.adminToken}`]) {
      const response = await fetch(`${server.controlUrl}/outbox`, { headers: { Authorization } });
      expect(response.status).toBe(401);
    }
  });
});
