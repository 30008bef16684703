import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { encodeConnectMessage } from '../../fixtures/formats/connect-message.ts';
import { DeviceSocket } from '../api-client/device-socket.ts';
import { RunMetrics } from '../metrics/run-metrics.ts';
import type { NetworkShape } from '../plan/policy.ts';
import { noonMs, token } from '../testing/client-fixture.ts';
import { FrameNetwork } from './frame-network.ts';
import { SimulatedNetwork } from './simulated-network.ts';

const nothing: NetworkShape = { latencyMs: 0, jitterMs: 0, lossShare: 0, bytesPerSecond: 0 };

/** Returns one direction of a network, and its arrivals in milliseconds since the start. */
function networkWith(shape: Partial<NetworkShape>) {
  const clock = new ManualClock(noonMs);
  const arrivals: [string, number][] = [];
  let breaks = 0;
  const frames = new FrameNetwork({
    shape: { ...nothing, ...shape },
    clock,
    random: seededRandom('x'),
    broken: () => {
      breaks++;
    },
  });
  const startedMs = clock.monotonicMs();
  const send = (name: string, bytes = 1): void =>
    frames.carry(bytes, () => arrivals.push([name, clock.monotonicMs() - startedMs]));
  return { clock, frames, arrivals, send, breaks: () => breaks };
}

describe('messages on the simulated network of a device', () => {
  it('arrive after their latency, in parallel', () => {
    const { clock, arrivals, send } = networkWith({ latencyMs: 300 });
    send('one');
    send('two');
    clock.advance(299);
    expect(arrivals).toEqual([]);
    clock.advance(1);
    expect(arrivals).toEqual([
      ['one', 300],
      ['two', 300],
    ]);
  });

  it('wait for their turn when bandwidth is limited', () => {
    const { clock, arrivals, send } = networkWith({ latencyMs: 100, bytesPerSecond: 1000 });
    send('long', 2000);
    send('short', 500);
    clock.advance(10_000);
    expect(arrivals).toEqual([
      ['long', 2100],
      ['short', 2600],
    ]);
    send('later', 1000);
    clock.advance(10_000);
    expect(arrivals.at(-1)).toEqual(['later', 11_100]);
  });

  it('never overtake one another, whatever the jitter', () => {
    const { clock, arrivals, send } = networkWith({ latencyMs: 300, jitterMs: 300 });
    const names = Array.from({ length: 50 }, (_, at) => String(at));
    for (const name of names) send(name);
    clock.advance(600);
    expect(arrivals.map(([name]) => name)).toEqual(names);
    expect(new Set(arrivals.map(([, atMs]) => atMs)).size).toBeGreaterThan(1);
  });

  it('break the connection when one is lost, at the planned share', () => {
    const { send, breaks, clock, arrivals } = networkWith({ lossShare: 0.2 });
    for (let sent = 0; sent < 500; sent++) send('one');
    clock.advance(1);
    expect(breaks() + arrivals.length).toBe(500);
    expect(Math.abs(breaks() - 100)).toBeLessThan(35);
  });

  it('break the connection when more are in transit than the limit', () => {
    const { send, breaks } = networkWith({ latencyMs: 1 });
    for (let sent = 0; sent < 1001; sent++) send('one');
    expect(breaks()).toBe(1);
  });

  it('never arrive once the socket is closed', () => {
    const { clock, frames, arrivals, send } = networkWith({ latencyMs: 10 });
    send('one');
    frames.close();
    send('two');
    clock.advance(1000);
    expect(arrivals).toEqual([]);
  });
});

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const question = { proto: 1, typ: 'question' };

/** A device behind a network that answers each message, and the server's end of its socket. */
async function connected(shape: Partial<NetworkShape>) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  closers.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const opened = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
  const clock = new ManualClock(noonMs);
  const random = seededRandom('x');
  const network = new SimulatedNetwork(
    { ...nothing, ...shape },
    { clock, random, sleep: () => Promise.resolve(), requestTimeLimitMs: 5000 },
  );
  const socket = new DeviceSocket(token, {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clock,
    observer: new RunMetrics(clock),
    requestTimeLimitMs: 5000,
    frames: (broken) => network.frames(1, broken),
    respond: () => [{ proto: 1, typ: 'answer' }],
  });
  closers.push(() => socket.close());
  const websocket = await opened;
  return { clock, socket, websocket };
}

const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a socket on the simulated network of a device', () => {
  it('answers only after the latency of both directions', async () => {
    const { clock, websocket } = await connected({ latencyMs: 300 });
    let isAnswered = false;
    websocket.once('message', () => {
      isAnswered = true;
    });
    websocket.send(encodeConnectMessage(question));
    const sentMs = clock.monotonicMs();
    while (!isAnswered) {
      clock.advance(50);
      await nextIteration();
    }
    expect(clock.monotonicMs() - sentMs).toBeGreaterThanOrEqual(600);
  });

  it('breaks with its own cause when the network loses a message', async () => {
    const { websocket, socket } = await connected({ lossShare: 1 });
    websocket.send(encodeConnectMessage(question));
    while (socket.state !== 'closed') await nextIteration();
    expect(socket.closedBy).toBe('transport/NETWORK_LOSS');
  });
});

describe('the handshake of a simulated socket', () => {
  const handshakes = (shape: Partial<NetworkShape>) => {
    const clock = new ManualClock(noonMs);
    const limits = { sleep: () => Promise.resolve(), requestTimeLimitMs: 5000 };
    const options = { clock, random: seededRandom('x'), ...limits };
    const network = new SimulatedNetwork({ ...nothing, ...shape }, options);
    return Array.from({ length: 200 }, (_, opening) => network.handshakeMs(opening));
  };

  it('takes one round trip, and its losses repeat with the seed', () => {
    expect(new Set(handshakes({}))).toEqual(new Set([0]));
    expect(new Set(handshakes({ latencyMs: 250 }))).toEqual(new Set([500]));
    const lossy = handshakes({ latencyMs: 250, jitterMs: 50, lossShare: 0.25 });
    const lost = lossy.filter((waitMs) => waitMs === undefined).length;
    expect(Math.abs(lost - 50)).toBeLessThan(25);
    const waits = lossy.flatMap((waitMs) => waitMs ?? []);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(400);
    expect(Math.max(...waits)).toBeLessThanOrEqual(600);
    expect(handshakes({ latencyMs: 250, jitterMs: 50, lossShare: 0.25 })).toEqual(lossy);
  });
});
