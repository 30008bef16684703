import type { IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { encodeBody } from '../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import type { ClientSession } from '../api-client/session.ts';
import type { SimulatedDevice } from '../device/device.ts';
import type { EventFact } from '../device/events.ts';
import { inventoryOf } from '../device/inventory.ts';
import { RunMetrics } from '../metrics/run-metrics.ts';
import { deviceOf, noonMs, sessionOf, token } from '../testing/client-fixture.ts';
import { closedPortUrl, StubServer } from '../testing/stub-server.ts';
import { FleetSockets } from './sockets.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Collects occurrences; each call of `next` returns one of them, in order. */
class Happenings<Thing> {
  readonly #ready: Thing[] = [];
  readonly #wanted: ((thing: Thing) => void)[] = [];

  add(thing: Thing): void {
    const wanted = this.#wanted.shift();
    if (wanted) wanted(thing);
    else this.#ready.push(thing);
  }

  next(): Promise<Thing> {
    const [ready] = this.#ready.splice(0, 1);
    if (ready !== undefined) return Promise.resolve(ready);
    return new Promise((resolve) => this.#wanted.push(resolve));
  }
}

/** A WebSocket server that accepts every client for which `refuse` returns no status. */
async function socketServer(refuse: () => number | undefined = () => undefined) {
  const server = await StubServer.start({});
  const upgrades = new WebSocketServer({ noServer: true });
  const opened = new Happenings<WebSocket>();
  const handshakes = new Happenings<IncomingMessage>();
  server.http.on('upgrade', (request, socket, head) => {
    handshakes.add(request);
    const status = refuse();
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      return;
    }
    upgrades.handleUpgrade(request, socket, head, (websocket) => opened.add(websocket));
  });
  closers.push(async () => {
    for (const client of upgrades.clients) client.terminate();
    await server.close();
  });
  return { baseUrl: server.baseUrl, opened, handshakes };
}

async function fleetOfOne(baseUrl: string) {
  const device = deviceOf();
  device.session = await sessionOf();
  return { device, session: device.session, ...fleetOf([device], baseUrl) };
}

function fleetOf(devices: readonly SimulatedDevice[], baseUrl: string) {
  const clock = new ManualClock(noonMs);
  const metrics = new RunMetrics(clock);
  const random = seededRandom('x');
  const requests: string[] = [];
  const wake = (): void => void requests.push('check-update');
  const sendInventory = (): void => void requests.push('send-inventory');
  const facts: EventFact[] = [];
  const events = { emit: (fact: EventFact): void => void facts.push(fact) };
  const parts = { control: { wake, sendInventory }, events };
  const network = { isAway: false };
  const options = {
    baseUrl,
    clock,
    random,
    metrics,
    requestTimeLimitMs: 5000,
    connection: {},
    isCutOff: () => network.isAway,
    ...parts,
  };
  const sockets = new FleetSockets(devices, options);
  closers.push(() => sockets.close());
  return { clock, metrics, sockets, requests, facts, network };
}

/** Yields to the event loop until a condition holds; otherwise the test times out. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

interface Connecting {
  readonly clock: ManualClock;
  readonly session: ClientSession;
  readonly sockets: FleetSockets;
  readonly opened: Happenings<WebSocket>;
}

/** Gives the device its token; returns the server's end of the socket that it then opens. */
async function connected({ clock, session, sockets, opened }: Connecting): Promise<WebSocket> {
  session.token = token;
  clock.advance(250);
  const websocket = await opened.next();
  await until(() => sockets.openCount() === 1);
  return websocket;
}

describe('the sockets of a fleet', () => {
  it('open as soon as the device has a token, and not before', async () => {
    const { baseUrl, handshakes, opened } = await socketServer();
    const { clock, session, sockets, metrics } = await fleetOfOne(baseUrl);
    clock.advance(60_000);
    expect(metrics.exchangeCount).toBe(0);
    session.token = token;
    clock.advance(250);
    const request = await handshakes.next();
    expect(request.headers.authorization).toBe(`Bearer ${token}`);
    expect(request.headers['sec-websocket-protocol']).toBeUndefined();
    expect(request.headers['sec-websocket-version']).toBe('13');
    await opened.next();
    await until(() => sockets.openCount() === 1);
    expect(metrics.operations()[0]).toMatchObject({
      operation: 'connect',
      responses: { '1xx': 1 },
    });
  });

  it('are checked in turn when they are many, each ten times a second', async () => {
    const { baseUrl, handshakes } = await socketServer();
    const devices = Array.from({ length: 1201 }, () => deviceOf());
    for (const index of [0, 600, 1200]) {
      const device = devices[index];
      if (device) device.session = Object.assign(await sessionOf(), { token });
    }
    const { clock, sockets } = fleetOf(devices, baseUrl);
    clock.advance(30);
    expect(sockets.openingCount()).toBe(0);
    clock.advance(10);
    expect(sockets.openingCount()).toBe(1);
    clock.advance(65);
    expect(sockets.openingCount()).toBe(3);
    for (const _ of [1, 2, 3]) await handshakes.next();
    await until(() => sockets.openCount() === 3);
    expect(sockets.openingCount()).toBe(0);
  });

  it('answer the pings of the server', async () => {
    const { baseUrl, opened } = await socketServer();
    const { clock, session } = await fleetOfOne(baseUrl);
    session.token = token;
    clock.advance(250);
    const websocket = await opened.next();
    const pong = new Promise((resolve) => websocket.once('pong', resolve));
    websocket.ping('60');
    expect(String(await pong)).toBe('60');
  });

  it('ping an idle server, and close when it does not answer', async () => {
    const { baseUrl, opened } = await socketServer();
    const { clock, session, sockets, metrics } = await fleetOfOne(baseUrl);
    const websocket = await connected({ clock, session, sockets, opened });
    const pinged = new Promise((resolve) => websocket.once('ping', resolve));
    const closed = new Promise((resolve) => websocket.once('close', resolve));
    websocket.pause();
    clock.advance(54_500);
    websocket.resume();
    await pinged;
    websocket.pause();
    clock.advance(61_000);
    await until(() => sockets.openCount() === 0);
    websocket.resume();
    await closed;
    clock.advance(250);
    expect(metrics.errors()).toEqual([{ operation: 'connect', cause: 'closed/1006', count: 1 }]);
  });

  it('open again after the server has closed them, but not before the back-off ends', async () => {
    const { baseUrl, opened } = await socketServer();
    const { clock, session, sockets, metrics, facts } = await fleetOfOne(baseUrl);
    session.token = token;
    clock.advance(250);
    (await opened.next()).close(1001);
    await until(() => sockets.openCount() === 0 && metrics.exchangeCount === 1);
    clock.advance(250);
    clock.advance(250);
    expect(metrics.errors()).toEqual([{ operation: 'connect', cause: 'closed/1001', count: 1 }]);
    expect(facts).toEqual([
      {
        kind: 'exchange',
        device: 0,
        operation: 'connect',
        status: 101,
        elapsedMs: expect.any(Number),
        waitingMs: expect.any(Number),
      },
      { kind: 'socket-opened', device: 0 },
      { kind: 'socket-closed', device: 0, cause: 'closed/1001' },
    ]);
    clock.advance(1000);
    await opened.next();
    await until(() => sockets.openCount() === 1);
  });

  it('wait longer after each failure when nothing listens', async () => {
    const { clock, session, metrics } = await fleetOfOne(await closedPortUrl());
    session.token = token;
    for (let breaks = 1; breaks <= 3; breaks++) {
      while (metrics.exchangeCount < breaks) {
        clock.advance(250);
        await new Promise((resolve) => setImmediate(resolve));
      }
      clock.advance(250);
    }
    const cause = 'transport/ECONNREFUSED';
    expect(metrics.errors()).toEqual([{ operation: 'connect', cause, count: 3 }]);
    expect(metrics.operations()[0]).toMatchObject({ responses: {}, unanswered: 3 });
    expect(clock.now() - noonMs).toBeGreaterThan(250 + 500 + 1000);
  });

  it('make the device authenticate again when the server no longer accepts its token', async () => {
    const { baseUrl, handshakes } = await socketServer(() => 401);
    const { clock, session, metrics } = await fleetOfOne(baseUrl);
    session.token = token;
    clock.advance(250);
    await handshakes.next();
    await until(() => metrics.exchangeCount === 1);
    clock.advance(250);
    expect(session.token).toBeUndefined();
    expect(metrics.errors()).toEqual([{ operation: 'connect', cause: 'status/401', count: 1 }]);
  });

  it('keep the token when the server refuses for another reason', async () => {
    const { baseUrl, handshakes } = await socketServer(() => 503);
    const { clock, session, metrics } = await fleetOfOne(baseUrl);
    session.token = token;
    clock.advance(250);
    await handshakes.next();
    await until(() => metrics.exchangeCount === 1);
    clock.advance(250);
    expect(session.token).toBe(token);
  });

  it('close in order at the end, and never open again', async () => {
    const { baseUrl, opened } = await socketServer();
    const { clock, session, sockets, metrics, facts } = await fleetOfOne(baseUrl);
    const websocket = await connected({ clock, session, sockets, opened });
    const code = new Promise((resolve) => websocket.once('close', resolve));
    sockets.close();
    expect(await code).toBe(1000);
    clock.advance(600_000);
    expect(metrics.exchangeCount).toBe(1);
    expect(facts.at(-1)).toEqual({ kind: 'socket-closed', device: 0, cause: 'run-ended' });
  });
});

describe('a device that receives messages over its socket', () => {
  /** A connected device and the messages it sends, one after the other. */
  async function spoken() {
    const { baseUrl, opened } = await socketServer();
    const fleet = await fleetOfOne(baseUrl);
    const received = new Happenings<ConnectMessage>();
    const closed = new Happenings<number>();
    const connect = async (): Promise<WebSocket> => {
      const websocket = await connected({ ...fleet, opened });
      websocket.on('message', (data, isBinary) => {
        expect(isBinary).toBe(true);
        received.add(decodeConnectMessage(data as Buffer));
      });
      websocket.on('close', (code) => closed.add(code));
      return websocket;
    };
    const websocket = await connect();
    const ask = (message: ConnectMessage): Promise<ConnectMessage> => {
      websocket.send(encodeConnectMessage(message));
      return received.next();
    };
    return { ...fleet, websocket, received, closed, ask, connect };
  }

  const ping = { proto: 0xffff, typ: 'ping', sid: 's' };

  it('answers a message over its socket', async () => {
    const { ask } = await spoken();
    expect(await ask(ping)).toEqual({ ...ping, typ: 'pong' });
    const body = encodeBody({ path: '/etc/artifact_info' });
    const chunk = await ask({ proto: 2, typ: 'get_file', sid: 's', body });
    expect(String(chunk.body)).toBe('artifact_name=factory-image\n');
  });

  it('uses the hostname of its inventory', async () => {
    const { ask, device } = await spoken();
    const body = encodeBody({ path: '/etc/hostname' });
    const chunk = await ask({ proto: 2, typ: 'get_file', sid: 's', body });
    const hostname = inventoryOf(device).find(({ name }) => name === 'hostname')?.value;
    expect(String(chunk.body)).toBe(`${hostname}\n`);
  });

  it('reads text frames as well', async () => {
    const { websocket, received } = await spoken();
    websocket.send(encodeConnectMessage(ping), { binary: false });
    expect(await received.next()).toMatchObject({ typ: 'pong' });
  });

  it('executes the commands to its update client', async () => {
    const { ask, requests } = await spoken();
    await ask({ proto: 4, typ: 'check-update', sid: 's' });
    await ask({ proto: 4, typ: 'send-inventory', sid: 's' });
    expect(requests).toEqual(['check-update', 'send-inventory']);
  });

  it('sends messages that fall due without a request', async () => {
    const { ask, clock, received } = await spoken();
    await ask(ping);
    clock.advance(48_100);
    expect(await received.next()).toEqual(ping);
  });

  it.each([
    ['no message', Buffer.from([0xc1]), 1011, 'message/malformed'],
    ['a message without a header', Buffer.from([0x80]), 1011, 'message/malformed'],
    [
      'more than devices read',
      encodeConnectMessage({ ...ping, body: Buffer.alloc(8192) }),
      1009,
      'transport/WS_ERR_UNSUPPORTED_MESSAGE_LENGTH',
    ],
  ])('disconnects after %s, counts an error, and reconnects', async (_what, bytes, code, cause) => {
    const { websocket, closed, clock, sockets, metrics, connect } = await spoken();
    websocket.send(bytes);
    expect(await closed.next()).toBe(code);
    await until(() => sockets.openCount() === 0);
    clock.advance(250);
    expect(metrics.errors()).toEqual([{ operation: 'connect', cause, count: 1 }]);
    clock.advance(1000);
    await connect();
  });

  it('disconnects from a server that does not read the responses it requests', async () => {
    const { ask, websocket, received, sockets, clock, metrics } = await spoken();
    await ask({ proto: 1, typ: 'new', sid: 's' });
    await received.next();
    const type = (text: string): void =>
      websocket.send(
        encodeConnectMessage({ proto: 1, typ: 'shell', sid: 's', body: Buffer.from(text) }),
      );
    type(`echo ${'x'.repeat(4000)} > a\r`);
    for (let count = 0; count < 6; count++) type('cat a a > b\rcat b > a\r');
    websocket.pause();
    while (sockets.openCount() === 1) {
      type('cat a\r');
      await new Promise((resolve) => setImmediate(resolve));
    }
    clock.advance(250);
    expect(metrics.errors()).toEqual([{ operation: 'connect', cause: 'backlog', count: 1 }]);
  });

  it('keeps its files over a new connection, but no session', async () => {
    const { ask, websocket, sockets, clock, received, connect } = await spoken();
    await ask({ proto: 1, typ: 'new', sid: 's' });
    await received.next();
    await ask({ proto: 1, typ: 'shell', sid: 's', body: Buffer.from('echo x > /tmp/a\r') });
    websocket.close(1001);
    await until(() => sockets.openCount() === 0);
    clock.advance(250);
    clock.advance(1000);
    const secondSocket = await connect();
    secondSocket.send(encodeConnectMessage({ proto: 1, typ: 'shell', sid: 's' }));
    expect(String((await received.next()).body)).toBe('session not found');
    const body = encodeBody({ path: '/tmp/a' });
    secondSocket.send(encodeConnectMessage({ proto: 2, typ: 'get_file', sid: 's', body }));
    expect(String((await received.next()).body)).toBe('x\n');
  });
});
