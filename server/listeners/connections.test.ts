import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { openFilesLimit, shareOpenFiles } from '../http/open-files.ts';
import { openServer, type RunningServer, type ServerOptions } from '../server.ts';
import { readResponse } from '../testing/raw-http.ts';
import { linkTo, publish } from '../testing/test-artifacts.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { startTestServer } from '../testing/test-server.ts';

const quiet = { port: 0, controlPort: 0, logLevel: 'silent' } as const;
const encrypted: ServerOptions = { tls: { brokenTls: true } };
const open: Socket[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

async function reach(url: string): Promise<Socket> {
  const { hostname: host, port, protocol } = new URL(url);
  const connectionOptions = { host, port: Number(port), allowHalfOpen: true };
  const loose = {
    rejectUnauthorized: false,
    minVersion: 'TLSv1',
    ciphers: 'ALL@SECLEVEL=0',
  } as const;
  const isSecure = protocol === 'https:';
  const socket = isSecure
    ? connectSecurely({ ...connectionOptions, ...loose })
    : connect(connectionOptions);
  open.push(socket);
  socket.on('error', () => undefined);
  await once(socket, isSecure ? 'secureConnect' : 'connect');
  return socket;
}

/** Returns everything the server sends until it closes the connection. */
async function responseOn(socket: Socket, request = '') {
  if (request !== '') socket.write(request);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'end');
  return readResponse(Buffer.concat(chunks).toString());
}

function listenersOf({ baseUrl, controlUrl, storageUrl, tls }: RunningServer, inside: string) {
  return { baseUrl, controlUrl, inside, ...(storageUrl && { storageUrl }), ...tls?.brokenTls };
}

const refusedUpgrade = 'Host: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

describe('a refused upgrade whose client never closes', () => {
  it.each<[string, ServerOptions]>([
    ['plain', { dialects: new Set(['storage-host']) }],
    ['encrypted', encrypted],
  ])('does not delay the shutdown: %s', async (_, options) => {
    const { server, openInside } = await openServer({ ...quiet, ...options });
    const inside = await openInside();
    const urls = Object.values(listenersOf(server, inside.url));
    const cut = urls.flatMap((url) =>
      ['GET', 'CONNECT'].map(async (method) => {
        const socket = await reach(url);
        socket.write(`${method} ${operations.connect.path} HTTP/1.1\r\n${refusedUpgrade}`);
        await Promise.race([once(socket, 'data'), once(socket, 'end')]);
        socket.write('x');
      }),
    );
    await Promise.all(cut);
    await Promise.all([inside.close(), server.close()]);
    expect(open).toHaveLength(2 * urls.length);
  });

  it('is closed by the server', async () => {
    const server = await startTestServer({ connectionLimits: { discardMaxMs: 200 } });
    const socket = await reach(server.baseUrl);
    const request = `GET ${operations.connect.path} HTTP/1.1\r\n${refusedUpgrade}`;
    expect((await responseOn(socket, request)).status).toBe(401);
    // Only a client that keeps writing notices that the connection is gone.
    const writing = systemClock.every(10, () => socket.write('x'));
    await new Promise((resolve) => socket.once('close', resolve));
    writing.cancel();
    await server.close();
  });
});

describe('a connection beyond the limit', () => {
  it.each<[string, ServerOptions]>([
    ['plain', {}],
    ['encrypted', encrypted],
  ])('returns 503 for any request: %s', async (_, options) => {
    const connectionLimits = { connectionsMax: 1 };
    const { server } = await openServer({ ...quiet, ...options, connectionLimits });
    await reach(server.baseUrl);
    for (const request of [
      'GET / HTTP/1.1\r\nHost: a\r\n',
      `GET ${operations.connect.path} HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`,
      'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n',
    ]) {
      const surplus = await reach(server.baseUrl);
      const response = await responseOn(surplus, `${request}X-SVC-RequestID: surplus\r\n\r\n`);
      expect([response.status, response.headers['retry-after']]).toEqual([503, '5']);
      expect(JSON.parse(response.body)).toEqual({
        error: expect.stringContaining('reached its limit of open connections'),
        request_id: 'surplus',
      });
      surplus.destroy();
    }
    const silent = await reach(server.baseUrl);
    if (server.tls) await once(silent, 'end');
    else expect((await responseOn(silent)).status).toBe(503);
    expect((await fetch(`${server.controlUrl}/ready`)).status).toBe(200);
    await server.close();
  });

  it.each([
    ['that sends nothing', ''],
    ['that sends its request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('returns 503 even among many at once: one %s', async (_, request) => {
    const server = await startTestServer({ connectionLimits: { connectionsMax: 1 } });
    await reach(server.baseUrl);
    const many = 2 * shareOpenFiles(openFilesLimit(), 1).refused + 1;
    const responses = Array.from({ length: many }, async () => {
      const socket = await reach(server.baseUrl);
      let text = '';
      socket.on('data', (piece) => {
        text += piece;
      });
      socket.once('end', () => socket.destroy());
      if (request !== '') socket.write(request);
      await new Promise((resolve) => socket.once('close', resolve));
      return text.slice(0, 'HTTP/1.1 503'.length);
    });
    expect(new Set(await Promise.all(responses))).toEqual(new Set(['HTTP/1.1 503']));
    await server.close();
  });

  it('is accepted once another has closed, and a file transfer counts as open', async () => {
    const server = await startTestServer({ connectionLimits: { connectionsMax: 3 } });
    const device = await acceptedDevice(server, 'reader');
    const { uri } = await linkTo(server, device.token, await publish(server));
    const otherSockets = [await reach(server.baseUrl), await reach(server.baseUrl)];
    const refused = await fetch(uri);
    expect([refused.status, await refused.json()]).toEqual([
      503,
      { error: expect.stringContaining('open files'), request_id: expect.any(String) },
    ]);
    for (const socket of otherSockets) socket.destroy();
    await Promise.all(otherSockets.map((socket) => once(socket, 'close')));
    expect((await fetchUntil(uri, 200)).status).toBe(200);
    await server.close();
  });

  it('returns 503 on the control listener too', async () => {
    const server = await startTestServer({ connectionLimits: { connectionsMax: 1 } });
    await reach(server.controlUrl);
    const { status, body } = await responseOn(
      await reach(server.controlUrl),
      'GET /ready HTTP/1.1\r\nHost: a\r\n\r\n',
    );
    expect([status, JSON.parse(body).error]).toEqual([503, expect.stringContaining('control')]);
    await server.close();
  });
});

describe('the shares of the listeners in open files', () => {
  it.each([
    [200, { api: 72, control: 32, refused: 16 }],
    [1024, { api: 768, control: 64, refused: 32 }],
    [20_000, { api: 18_976, control: 256, refused: 128 }],
    [1_048_576, { api: 50_000, control: 256, refused: 128 }],
    [Number.POSITIVE_INFINITY, { api: 50_000, control: 256, refused: 128 }],
    [32, { api: 16, control: 32, refused: 16 }],
  ])('divide %d files into %o', (openFiles, shares) => {
    expect(shareOpenFiles(openFiles, 50_000)).toEqual(shares);
  });
});

/** Repeats a request until the server has noticed that other clients disconnected. */
async function fetchUntil(url: string, status: number): Promise<Response> {
  for (let trip = 0; trip < 1000; trip += 1) {
    const response = await fetch(url);
    await response.arrayBuffer();
    if (response.status === status) return response;
  }
  throw new Error(`the response never became ${status}`);
}
