import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { systemClock } from '../../fixtures/base/clock.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { type FleetPlan, simulateFleet } from '../engine/simulate-fleet.ts';
import { FakeServer } from '../testing/fake-server.ts';
import { planWith } from '../testing/plan-with.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The first request of a run, which shows that the server implements the API. */
const probe = `GET ${pathOf(operations['get-configuration'])} `;

/** Starts a server that treats every connection with `treat`, except for the probe. */
async function badServer(treat: (socket: Socket) => void) {
  const peers: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.on('data', (bytes) => {
      peers.push(socket.remoteAddress);
      if (bytes.toString('latin1').startsWith(probe)) {
        socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      } else treat(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, peers };
}

function run(baseUrl: string, change: Partial<FleetPlan> = {}, over = new AbortController()) {
  const plan = planWith({
    baseUrl,
    devices: 3,
    pollIntervalMs: 100,
    durationMs: 450,
    requestTimeLimitMs: 150,
    ...change,
  });
  return simulateFleet(plan, { clock: systemClock, signal: over.signal });
}

const head = 'HTTP/1.1 200 OK\r\n';

describe('a server that misbehaves', () => {
  it.each<[string, (socket: Socket) => void, RegExp]>([
    ['hangs', () => undefined, /timeout/],
    ['closes without a response', (socket) => socket.destroy(), /transport\//],
    [
      'promises more than it sends',
      (s) => s.end(`${head}content-length: 99\r\n\r\nx`),
      /transport/,
    ],
    ['sends more than it promised', (s) => s.write(`${head}content-length: 1\r\n\r\nxyz`), /./],
    [
      'is not an HTTP server',
      (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
      /transport\/HTTPParserError/,
    ],
    [
      'redirects',
      (s) => s.write('HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n'),
      /status\/302/,
    ],
    ['drips', (s) => void s.write(`${head}content-length: 9\r\n\r\nx`), /timeout/],
  ])('is counted as an error because it %s, and the run ends in time', async (_, treat, cause) => {
    const { baseUrl } = await badServer(treat);
    const result = await run(baseUrl);
    expect(result.ended).toBe('duration');
    expect(result.durationMs).toBeLessThan(5000);
    expect(result.errors.map((error) => error.cause).join()).toMatch(cause);
    expect(result.errors.every(({ count }) => count > 0)).toBe(true);
  });
});

describe('the source addresses of a run', () => {
  it('are used in turn for the connections of devices', async () => {
    const { baseUrl, peers } = await badServer((socket) => {
      socket.end('HTTP/1.1 401 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    });
    await run(baseUrl, { sourceAddresses: ['127.0.0.2', '127.0.0.3'] });
    expect(new Set(peers)).toEqual(new Set(['127.0.0.2', '127.0.0.3']));
  });

  it('are used for WebSocket connections as well', async () => {
    const { server } = await FakeServer.start();
    const peers = new Map<string, number>();
    const over = new AbortController();
    const upgrades = new WebSocketServer({ server: server.http });
    upgrades.on('connection', (_, { socket: { remoteAddress = '' } }) => {
      peers.set(remoteAddress, (peers.get(remoteAddress) ?? 0) + 1);
      if (upgrades.clients.size === 4) over.abort();
    });
    closers.push(() => {
      for (const client of upgrades.clients) client.terminate();
      return server.close();
    });
    const connected = { devices: 4, connect: true, requestTimeLimitMs: 5000, durationMs: 10_000 };
    const acceptWith = { email: 'admin@example.com', password: 'secret-word' };
    const sourceAddresses = ['127.0.0.2', '127.0.0.3'];
    await run(server.baseUrl, { ...connected, acceptWith, sourceAddresses }, over);
    expect(Object.fromEntries(peers)).toEqual({ '127.0.0.2': 2, '127.0.0.3': 2 });
  });

  it('end the run before it begins when the machine does not have them', async () => {
    const { baseUrl } = await badServer((socket) => socket.destroy());
    const error = await run(baseUrl, { sourceAddresses: ['192.0.2.7'] }).catch(String);
    expect(error).toMatch(/EADDRNOTAVAIL/);
  });
});
