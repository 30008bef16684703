import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptedDevice, authenticate, newDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { control, logIn, secondTenant } from '../testing/test-tenants.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});

afterEach(() => server.close());

function limit(requests: number, windowSeconds: number, query = '') {
  return control(server, 'POST', `/rate-limit${query}`, { requests, windowSeconds });
}

function poll(token: string) {
  return server.call('get-configuration', { token });
}

describe('a rate limit', () => {
  it('returns 429, Retry-After and an Error body to a device until the window ends', async () => {
    const device = await acceptedDevice(server, 'frequent');
    await limit(2, 30);
    expect([(await poll(device.token)).status, (await poll(device.token)).status]).toEqual([
      200, 200,
    ]);
    const refused = await poll(device.token);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
    expect(refused.json()).toEqual({
      error: expect.stringContaining('too many requests'),
      request_id: refused.headers.get('x-svc-requestid'),
    });
    server.clock.advance(29_999);
    expect((await poll(device.token)).headers.get('retry-after')).toBe('1');
    server.clock.advance(1);
    expect((await poll(device.token)).status).toBe(200);
  });

  it('counts each device and each user separately', async () => {
    const one = await acceptedDevice(server, 'one');
    const two = await acceptedDevice(server, 'two');
    await limit(1, 60);
    expect((await poll(one.token)).status).toBe(200);
    expect((await poll(one.token)).status).toBe(429);
    expect((await poll(two.token)).status).toBe(200);
    expect((await server.call('count-devices', { token: server.adminToken })).status).toBe(200);
  });

  it('applies to users and to the audit log too', async () => {
    await limit(1, 60);
    const logs = () => server.call('list-audit-logs', { token: server.adminToken });
    expect([(await logs()).status, (await logs()).status]).toEqual([200, 429]);
  });

  it('counts authentication requests and logins by their source address', async () => {
    await limit(2, 60);
    expect((await authenticate(server, newDevice('a'))).status).toBe(401);
    expect((await logIn(server, server.adminEmail, 'wrong-password')).status).toBe(401);
    expect((await authenticate(server, newDevice('b'))).status).toBe(429);
    expect((await logIn(server, server.adminEmail, server.adminPassword)).status).toBe(429);
  });

  it('returns 429 before the body is read or state is written', async () => {
    const device = await acceptedDevice(server, 'writer');
    await limit(0, 60);
    const json = { timezone: 'UTC' };
    expect((await server.call('put-configuration', { token: device.token, json })).status).toBe(
      429,
    );
    await control(server, 'DELETE', '/rate-limit');
    expect((await poll(device.token)).json()).toEqual({});
  });

  it('applies to one tenant only', async () => {
    const otherTenant = await secondTenant(server);
    await limit(0, 60, `?tenant=${otherTenant.id}`);
    expect((await server.call('count-devices', { token: otherTenant.token })).status).toBe(429);
    expect((await server.call('count-devices', { token: server.adminToken })).status).toBe(200);
  });

  it('can be read, set and removed on the control listener', async () => {
    const readRateLimit = async () =>
      JSON.parse((await control(server, 'GET', '/rate-limit')).text);
    expect(await readRateLimit()).toEqual({ limit: null });
    expect(JSON.parse((await limit(5, 10)).text)).toEqual({
      limit: { requests: 5, windowSeconds: 10 },
    });
    expect(await readRateLimit()).toEqual({ limit: { requests: 5, windowSeconds: 10 } });
    expect((await control(server, 'DELETE', '/rate-limit')).status).toBe(200);
    expect(await readRateLimit()).toEqual({ limit: null });
  });

  it.each<[unknown, string]>([
    [{}, 'requests'],
    [{ requests: 1 }, 'windowSeconds'],
    [{ requests: -1, windowSeconds: 1 }, 'requests'],
    [{ requests: 1.5, windowSeconds: 1 }, 'requests'],
    [{ requests: 1_000_001, windowSeconds: 1 }, 'requests'],
    [{ requests: 1, windowSeconds: 0 }, 'windowSeconds'],
    [{ requests: 1, windowSeconds: 86_401 }, 'windowSeconds'],
    [{ requests: '1', windowSeconds: 1 }, 'requests'],
    [{ requests: 1, windowSeconds: 1, burst: 2 }, 'burst'],
  ])('returns 400 if set to %j', async (given, word) => {
    const { status, text } = await control(server, 'POST', '/rate-limit', given);
    expect([status, text]).toEqual([400, expect.stringContaining(word)]);
  });

  it('is active from the start if the settings say so', async () => {
    await server.close();
    server = await startTestServer({ rateLimit: { requests: 1, windowSeconds: 60 } });
    const count = () => server.call('count-devices', { token: server.adminToken });
    expect([(await count()).status, (await count()).status]).toEqual([200, 429]);
  });
});
