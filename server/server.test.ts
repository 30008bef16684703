import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../fixtures/base/clock.ts';
import { seededRandom } from '../fixtures/base/random.ts';
import { managementOperations } from '../fixtures/contract/management/index.ts';
import { startServer } from './server.ts';
import { SettingError } from './settings.ts';
import { openConnection, rawRequest, readResponse, untilClosed } from './testing/raw-http.ts';
import { acceptedDevice } from './testing/test-device.ts';
import { startTestServer } from './testing/test-server.ts';
import { endOf, openSocket } from './testing/test-sockets.ts';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start(options: Parameters<typeof startTestServer>[0] = {}) {
  const server = await startTestServer(options);
  closers.push(server.close);
  return server;
}

/** Occupies a port of a loopback address that no other test uses. */
async function busyPort(host: string): Promise<number> {
  const holder = createServer();
  holder.listen(0, host);
  await once(holder, 'listening');
  closers.push(async () => {
    holder.close();
    await once(holder, 'close');
  });
  return (holder.address() as AddressInfo).port;
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

describe('a server that has started', () => {
  it('accepts connections on two different listeners', async () => {
    const server = await start();
    expect((await server.call('count-devices', { token: server.adminToken })).status).toBe(200);
    expect((await fetch(`${server.controlUrl}/ready`)).status).toBe(200);
    expect(new URL(server.controlUrl).port).not.toBe(new URL(server.baseUrl).port);
    const { path } = managementOperations['count-devices'];
    expect((await fetch(server.controlUrl + path)).status).not.toBe(200);
    expect((await server.request('GET', '/ready')).status).toBe(404);
  });

  it.each([
    [{ host: '0.0.0.0' }, '0.0.0.0', '127.0.0.1'],
    [{ controlHost: '0.0.0.0' }, '127.0.0.1', '0.0.0.0'],
  ])(
    'opens API and control listener to other machines only by an own setting: %j',
    async (...row) => {
      const [settings, api, control] = row;
      const server = await start(settings);
      const hosts = [server.baseUrl, server.controlUrl].map((url) => new URL(url).hostname);
      expect(hosts).toEqual([api, control]);
    },
  );

  it('has an admin who can log in with a random password', async () => {
    const [one, other] = [await start(), await start({ random: seededRandom('other') })];
    expect(one.adminEmail).toBe('admin@example.com');
    expect(one.adminPassword).toMatch(/^[\w-]{16}$/);
    expect(one.adminPassword).not.toBe(other.adminPassword);
    const credentials = Buffer.from(`${one.adminEmail}:${one.adminPassword}`).toString('base64');
    const headers = { Authorization: `Basic ${credentials}` };
    expect((await one.call('login', { headers })).status).toBe(200);
    expect((await other.call('login', { headers })).status).toBe(401);
  });

  it('uses the configured email and password', async () => {
    const chosen = { adminEmail: 'me@example.com', adminPassword: 'chosen by me' };
    expect(await start(chosen)).toMatchObject(chosen);
  });

  it('has a control token that is useless at the API, and vice versa', async () => {
    const server = await start();
    expect(server.controlToken).toMatch(/^[\w-]{32}$/);
    expect((await server.call('count-devices', { token: server.controlToken })).status).toBe(401);
    const headers = { Authorization: `Bearer ${server.adminToken}` };
    expect((await fetch(`${server.controlUrl}/overview`, { headers })).status).toBe(401);
  });

  it('is identical with the same seed and the same clock', async () => {
    const [one, again] = [await start(), await start()];
    expect(again.adminToken).toBe(one.adminToken);
    expect(again.controlToken).toBe(one.controlToken);
    const otherServer = await start({ random: seededRandom('other') });
    expect(otherServer.adminToken).not.toBe(one.adminToken);
    expect(otherServer.controlToken).not.toBe(one.controlToken);
  });

  it("uses the machine's clock and real randomness by default", async () => {
    const options = { port: 0, controlPort: 0, logLevel: 'silent' } as const;
    const [one, other] = [await startServer(options), await startServer(options)];
    closers.push(one.close, other.close);
    const age = systemClock.now() / 1000 - Number(claimsOf(one.adminToken).iat);
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(60);
    expect(one.controlToken).not.toBe(other.controlToken);
  });

  it('shares no state with another server', async () => {
    const [one, other] = [await start(), await start()];
    await acceptedDevice(one, 'here');
    const count = await other.call('count-devices', { token: other.adminToken });
    expect(count.json()).toEqual({ count: 0 });
  });
});

describe('a server that cannot start', () => {
  const host = '127.0.0.83';

  it('names the wrong setting', async () => {
    await expect(start({ adminPassword: 'short' })).rejects.toThrow(SettingError);
  });

  it('reports a busy API port', async () => {
    const port = await busyPort(host);
    await expect(start({ host, port })).rejects.toMatchObject({ code: 'EADDRINUSE', port });
  });

  it('reports a busy control port and releases the API port', async () => {
    const controlPort = await busyPort(host);
    const server = await start({ host });
    const port = Number(new URL(server.baseUrl).port);
    await server.close();
    closers.pop();
    const starting = start({ host, port, controlHost: host, controlPort });
    await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE', port: controlPort });
    expect((await start({ host, port })).baseUrl).toBe(`http://${host}:${port}`);
  });
});

describe('a server that has been closed', () => {
  it('refuses new connections', async () => {
    const { baseUrl, controlUrl, close } = await startTestServer();
    await close();
    await expect(fetch(baseUrl)).rejects.toThrow();
    await expect(fetch(`${controlUrl}/ready`)).rejects.toThrow();
  });

  it('ends idle keep-alive connections and incomplete requests', async () => {
    const server = await startTestServer();
    const [idle, half] = [await openConnection(server), await openConnection(server)];
    const ends = [untilClosed(idle), untilClosed(half)];
    half.write('GET / HTTP/1.1\r\nX: ');
    idle.write('GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(idle, 'readable');
    await server.close();
    const [answered = '', unanswered] = await Promise.all(ends);
    expect(readResponse(answered).status).toBe(404);
    expect(unanswered).toBe('');
  });

  it('closes device sockets with 1001', async () => {
    const server = await startTestServer();
    const socket = await openSocket(server, await acceptedDevice(server, 'socket'));
    const end = endOf(socket);
    await server.close();
    expect(await end).toEqual({ code: 1001, reason: 'server shutting down' });
  });

  it('has answered all earlier requests', async () => {
    const server = await startTestServer();
    const socket = await openConnection(server);
    socket.write(rawRequest('GET /nowhere'));
    expect(readResponse(await untilClosed(socket)).status).toBe(404);
    await server.close();
  });
});
