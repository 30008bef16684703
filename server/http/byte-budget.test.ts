import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { type OpenServer, openServer } from '../server.ts';
import { ObservedClock } from '../testing/looked-at-clock.ts';
import { readResponse } from '../testing/raw-http.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { callsTo, startOfTest, type TestServer } from '../testing/test-server.ts';
import { openSocket } from '../testing/test-sockets.ts';
import { ByteBudget } from './byte-budget.ts';

const MOST = 400_000;
const CHUNK = Buffer.alloc(150_000, ' ');

let inside: OpenServer;
let server: TestServer;
const open: Socket[] = [];

beforeAll(async () => {
  const connectionLimits = {
    inFlightMaxBytes: MOST,
    headersMaxMs: 2000,
    transferIdleMs: 2000,
    checkMs: 20,
    discardMaxMs: 200,
  };
  const clock = new ObservedClock(startOfTest);
  const options = { port: 0, controlPort: 0, logLevel: 'silent', connectionLimits, clock } as const;
  inside = await openServer(options);
  server = { ...inside.server, clock, ...callsTo(inside.server.baseUrl) };
});

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

afterAll(() => inside.server.close());

function heldBytes(): number {
  return inside.services.incompleteTransfers.heldBytes;
}

/** This is longer than any request may take. */
const HELD_MAX_MS = 15_000;

/** Sends other requests until the server holds that many bytes. */
async function untilHeld(min: number, max = min): Promise<void> {
  const endMs = systemClock.monotonicMs() + HELD_MAX_MS;
  while (systemClock.monotonicMs() < endMs) {
    if (heldBytes() >= min && heldBytes() <= max) return;
    await server.call('count-devices', { token: server.adminToken });
  }
  throw new Error(`${heldBytes()} bytes are held, never ${min} to ${max}`);
}

function reach(): Socket {
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  open.push(socket);
  return socket;
}

/** Sends a request without its last byte. */
function stalled(head: string, body: Buffer): Socket {
  const socket = reach();
  socket.write(`${head} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length + 1}\r\n`);
  socket.write('\r\n');
  socket.write(body);
  return socket;
}

async function responseOn(socket: Socket) {
  const [response] = (await once(socket, 'data')) as [Buffer];
  return readResponse(response.toString());
}

const ask = `POST ${operations['post-auth-request'].path}`;

describe('incomplete bodies at the byte limit', () => {
  it('return 503 in favour of newer bodies, oldest first', async () => {
    const bodies: Socket[] = [];
    for (let count = 1; count <= 2; count += 1) {
      bodies.push(stalled(ask, CHUNK));
      await untilHeld(count * CHUNK.length, MOST);
    }
    const [oldest, newer] = bodies as [Socket, Socket];
    const refused = responseOn(oldest);
    stalled(ask, CHUNK);
    const { status, headers, body } = await refused;
    expect([status, headers['retry-after'], headers.connection]).toEqual([503, '5', 'close']);
    expect(JSON.parse(body)).toEqual({
      error: expect.stringContaining('unfinished requests'),
      request_id: headers['x-svc-requestid'],
    });
    expect(newer.bytesRead).toBe(0);
    // The server still answers another complete request.
    const whole = await server.call('post-auth-request', { body: Buffer.alloc(300_000, ' ') });
    expect(whole.status).toBe(400);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['finished', (socket) => socket.write(' ')],
    ['cut off', (socket) => socket.destroy()],
    ['left until their time is over', () => undefined],
  ])('release their bytes when they are %s', async (_, end) => {
    const socket = stalled(ask, CHUNK);
    await untilHeld(CHUNK.length, MOST);
    end(socket);
    await untilHeld(0);
  });

  it('are refused in favour of newer authentication requests while many wait for their turn', async () => {
    const body = ' '.repeat(10_000);
    const sockets = Array.from({ length: 120 }, reach);
    // The server has accepted these connections before; otherwise it would read them one by one.
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await Promise.all(sockets.map(responseOn));
    for (const socket of sockets) {
      socket.write(`${ask} HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n${body}`);
    }
    const responses = await Promise.all(sockets.map(responseOn));
    const refused = responses.filter(({ status }) => status === 503).length;
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(120 - refused);
    // Some requests start at once, and 40 of the others fit into the limit.
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThanOrEqual(80);
    await untilHeld(0);
  });

  it('count more when sent in small pieces, and release it when too large', async () => {
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(1000));
    const socket = reach();
    socket.write(`${ask} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
    socket.write(chunks);
    await untilHeld(200_000, MOST);
    socket.write(chunks);
    expect((await responseOn(socket)).status).toBe(503);
    await untilHeld(0);
  });

  it('count only the fields of an upload, not its file', async () => {
    const { method, path } = managementOperations['upload-artifact'];
    const head = [
      `${method} ${path} HTTP/1.1`,
      'Host: a',
      `Authorization: Bearer ${server.adminToken}`,
      'Content-Type: multipart/form-data; boundary=x',
      'Content-Length: 900000\r\n\r\n',
    ].join('\r\n');
    const part = (name: string) => `--x\r\nContent-Disposition: form-data; name="${name}"`;
    const field = `${head}${part('description')}\r\n\r\n`;
    const upload = reach();
    upload.write(field);
    upload.write(CHUNK);
    await untilHeld(CHUNK.length, MOST);
    upload.write(`\r\n${part('artifact')}; filename="a"\r\n\r\nfile`);
    await untilHeld(0);
    expect(upload.bytesRead).toBe(0);
    upload.destroy();
    const tooMuch = reach();
    tooMuch.write(field);
    tooMuch.write(Buffer.concat([CHUNK, CHUNK, CHUNK]));
    expect((await responseOn(tooMuch)).status).toBe(503);
    await untilHeld(0);
  });
});

describe('incomplete WebSocket messages at the byte limit', () => {
  it("count like bodies; the oldest one's socket is closed with 1013", async () => {
    const device = await acceptedDevice(server, 'talker');
    const socket = await openSocket(server, device);
    const connection = Reflect.get(socket, '_socket') as Socket;
    // The data is a fragment, a ping in between, and an incomplete frame.
    const head = (first: number, length: number) => {
      const bytes = Buffer.alloc(14);
      bytes.writeUInt8(first);
      bytes.writeUInt8(0xff, 1);
      bytes.writeBigUInt64BE(BigInt(length), 2);
      return bytes;
    };
    connection.write(Buffer.concat([head(0x02, CHUNK.length), CHUNK]));
    socket.ping();
    await untilHeld(CHUNK.length, MOST);
    connection.write(Buffer.concat([head(0x00, CHUNK.length + 1), CHUNK]));
    await untilHeld(2 * CHUNK.length, MOST);
    const ended = once(socket, 'close');
    stalled(ask, CHUNK);
    const [code] = (await ended) as [number];
    expect(code).toBe(1013);
  });

  it('use no bytes of the budget once they are complete', async () => {
    const device = await acceptedDevice(server, 'other');
    const socket = await openSocket(server, device);
    socket.send(CHUNK, { fin: false });
    await untilHeld(CHUNK.length, MOST);
    socket.send(CHUNK, { fin: true });
    await untilHeld(0);
    socket.terminate();
  });
});

describe('a byte budget', () => {
  it('is never exceeded for long and evicts only actual holders', () => {
    const budget = new ByteBudget(10);
    const evicted: string[] = [];
    const [a, b, c] = ['a', 'b', 'c'].map((name) => budget.open(() => evicted.push(name)));
    a?.set(4);
    b?.set(4);
    a?.set(0);
    a?.set(6);
    expect([evicted, budget.heldBytes]).toEqual([[], 10]);
    c?.set(1);
    expect([evicted, budget.heldBytes]).toEqual([['b'], 7]);
    c?.set(20);
    expect([evicted, budget.heldBytes]).toEqual([['b', 'a', 'c'], 0]);
  });
});
