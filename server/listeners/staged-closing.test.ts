import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { type OpenServer, openServer, type ServerOptions } from '../server.ts';
import { reach } from '../testing/raw-connection.ts';
import { readResponse, untilClosed } from '../testing/raw-http.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { journalPage } from '../testing/test-journal.ts';
import { callsTo, startOfTest, type TestServer } from '../testing/test-server.ts';
import { control } from '../testing/test-tenants.ts';
import { writeFirst, writeFirstOften } from '../testing/write-first.ts';

const TRIES = 10;
const { path } = operations['put-configuration'];
const body = Buffer.alloc(2 * limits.bodyMaxBytes, ' ');
const pace = { chunkBytes: 16_384 };

let inside: OpenServer;
let server: TestServer;
let device: AcceptedDevice;
const open: Socket[] = [];

async function start(options: ServerOptions = {}): Promise<void> {
  const clock = new ManualClock(startOfTest);
  const quiet = { port: 0, controlPort: 0, logLevel: 'silent', clock } as const;
  inside = await openServer({ ...quiet, ...options });
  server = { ...inside.server, clock, ...callsTo(inside.server.baseUrl) };
  device = await acceptedDevice(server, 'staged');
}

afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  await inside.server.close();
});

function put(headers: readonly string[] = [], sent = body): Buffer {
  const own = [
    `Authorization: Bearer ${device.token}`,
    'Content-Type: application/json',
    'Host: a',
  ];
  const lines = [`PUT ${path} HTTP/1.1`, ...own, `Content-Length: ${sent.length}`, ...headers];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), sent]);
}

/** Returns an upload request without a token. */
function upload(): Buffer {
  const line = `POST ${managementOperations['upload-artifact'].path} HTTP/1.1`;
  const form = 'Content-Type: multipart/form-data; boundary=x';
  const lines = [line, 'Host: a', form, `Content-Length: ${body.length}`, 'Connection: close'];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

/** Sends a refused request with an endless body on a connection that the client never ends. */
async function openRefused(more: readonly string[] = []): Promise<Socket> {
  const socket = await reach(server.baseUrl);
  open.push(socket);
  socket.on('error', () => socket.destroy());
  const announced = ['Host: a', `Content-Length: ${2 ** 30}`, 'Connection: close', ...more];
  socket.write(`PUT ${path} HTTP/1.1\r\n${announced.join('\r\n')}\r\n\r\n`);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'end');
  expect(readResponse(Buffer.concat(chunks).toString()).status).toBe(401);
  return socket;
}

function untilSocketEnds(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve));
}

/** Writes until the connection is gone; only a failed write reveals that. */
async function untilCut(socket: Socket): Promise<void> {
  while (!socket.destroyed) {
    socket.write('x');
    await new Promise(setImmediate);
  }
}

describe('a client that sends its body before it reads', () => {
  const often = (request: () => Buffer) =>
    writeFirstOften(TRIES, () => writeFirst(server.baseUrl, request(), pace));

  it('gets 429 when the rate is limited', async () => {
    await start();
    await control(server, 'POST', '/rate-limit', { requests: 1, windowSeconds: 60 });
    await server.call('get-configuration', { token: device.token });
    const small = Buffer.alloc(limits.bodyMaxBytes, ' ');
    expect(await often(() => put(['Connection: close'], small))).toEqual({ 429: TRIES });
  });

  it('gets 503 when there is no room for its body', async () => {
    await start({ connectionLimits: { inFlightMaxBytes: 200_000 } });
    const small = put([], Buffer.alloc(limits.bodyMaxBytes, ' '));
    for (let tries = 0; tries < TRIES; tries += 1) {
      expect(await writeFirst(server.baseUrl, small, pace)).toBe(503);
    }
  });

  it('gets 503 when there are too many connections', async () => {
    await start({ connectionLimits: { connectionsMax: 8 } });
    for (let more = 0; more < 8; more += 1) open.push(await reach(server.baseUrl));
    expect(await often(put)).toEqual({ 503: TRIES });
  });

  it('gets 502 when a planned fault responds to an upload', async () => {
    await start();
    const act = '{ kind: respond, status: 502 }';
    const plan = `rules: [{ id: a, match: { operation: upload-artifact }, times: until-cleared, act: ${act} }]`;
    const headers = { Authorization: `Bearer ${server.controlToken}` };
    await fetch(`${server.controlUrl}/faults`, { method: 'POST', headers, body: plan });
    expect(await often(upload)).toEqual({ 502: TRIES });
  });

  it('gets 401 when an upload comes without a token', async () => {
    await start();
    expect(await often(upload)).toEqual({ 401: TRIES });
  });

  it('gets 408 when the body stalls', async () => {
    await start({ connectionLimits: { transferIdleMs: 300, checkMs: 20 } });
    const slow = { chunkBytes: 65_536, pauseMs: 30 };
    const unfinished = put([], Buffer.alloc(limits.bodyMaxBytes, ' ')).subarray(0, 1_000_000);
    expect(await writeFirst(server.baseUrl, unfinished, slow)).toBe(408);
  });
});

describe('a connection with a refused body', () => {
  beforeEach(() => start());

  it('serves the next request if client and server keep it open', async () => {
    const last = Buffer.from('GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const small = put([], Buffer.alloc(limits.bodyMaxBytes, ' '));
    const anonymous = Buffer.from(String(small).replace(device.token, 'unknown'));
    const socket = await reach(server.baseUrl);
    socket.write(Buffer.concat([anonymous, last]));
    const text = await untilClosed(socket);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 404']);
  });

  it('serves the next request on the control listener too', async () => {
    const own = ['Host: 127.0.0.1', `Authorization: Bearer ${server.controlToken}`];
    const json = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    const head = ['POST /clock HTTP/1.1', ...own, ...json].join('\r\n');
    const last = 'GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n';
    const socket = await reach(server.controlUrl);
    socket.write(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body, Buffer.from(last)]));
    const text = await untilClosed(socket);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  it('never reads its body, or data after it, as requests', async () => {
    const inner = `GET /inner HTTP/1.1\r\nHost: a\r\nX-SVC-RequestID: inner\r\n\r\n`;
    const sent = Buffer.from(inner.repeat(20_000));
    for (const request of [put([], sent), put(['Connection: close'], sent)]) {
      const socket = await reach(server.baseUrl);
      socket.write(Buffer.concat([request, sent]));
      expect((await untilClosed(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413']);
    }
    const { entries } = await journalPage(server, 'limit=500');
    expect(entries.filter(({ requestId }) => requestId === 'inner')).toEqual([]);
    expect(entries.filter(({ status }) => status === 413)).toHaveLength(2);
    expect(entries.filter(({ kind }) => kind === 'unparsable')).toEqual([]);
  });

  it('releases its body slots on the control listener', async () => {
    const own = ['Host: 127.0.0.1', `Authorization: Bearer ${server.controlToken}`];
    const json = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    const lines = ['POST /clock HTTP/1.1', ...own, ...json, 'Connection: close'];
    const request = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
    const one = () => writeFirst(server.controlUrl, request, pace);
    // The control listener has sixteen body slots.
    expect(await writeFirstOften(4 * TRIES, one, 8)).toEqual({ 413: 4 * TRIES });
  });
});

describe('a client that keeps sending after its response', () => {
  it('is cut beyond the limit of discarded bytes', async () => {
    await start();
    const socket = await openRefused();
    const isClosed = untilSocketEnds(socket);
    const piece = Buffer.alloc(65_536);
    let sent = 0;
    for (; !socket.destroyed; sent += piece.length) {
      await Promise.race([isClosed, new Promise((resolve) => socket.write(piece, resolve))]);
      await new Promise(setImmediate);
    }
    await isClosed;
    expect(sent).toBeGreaterThan(4 * limits.bodyMaxBytes);
  });

  it('is cut after the time limit', async () => {
    await start({ connectionLimits: { discardMaxMs: 100 } });
    const socket = await openRefused();
    await untilCut(socket);
  });

  it('counts in the byte budget until it disconnects', async () => {
    await start();
    const heldBytes = () => inside.services.incompleteTransfers.heldBytes;
    const sending = await openRefused();
    sending.write(Buffer.alloc(10_000));
    await until(() => heldBytes() > 0);
    sending.destroy();
    await until(() => heldBytes() === 0);
  });

  it('is disconnected when the byte budget is needed for other requests', async () => {
    await start({ connectionLimits: { inFlightMaxBytes: 100_000, discardMaxMs: 3_600_000 } });
    const sending = await openRefused();
    sending.write(Buffer.alloc(10_000));
    await until(() => inside.services.incompleteTransfers.heldBytes > 0);
    const otherSocket = await reach(server.baseUrl);
    open.push(otherSocket);
    otherSocket.write(put([], Buffer.alloc(limits.bodyMaxBytes, ' ')).subarray(0, 120_000));
    await untilCut(sending);
  });

  it('does not delay the shutdown of the server', async () => {
    await start({ connectionLimits: { discardMaxMs: 3_600_000 } });
    const sockets = [await openRefused(), await openRefused()];
    await inside.server.close();
    await Promise.all(sockets.map(untilCut));
  });

  /** Waits for the condition while the server processes requests. */
  async function until(holds: () => boolean): Promise<void> {
    for (let trip = 0; trip < 2000 && !holds(); trip += 1) {
      await server.call('count-devices', { token: server.adminToken });
    }
    expect(holds()).toBe(true);
  }
});
