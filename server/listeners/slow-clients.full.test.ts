import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { readResponse } from '../testing/raw-http.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

const { path } = operations['put-configuration'];
const { path: authRequests } = operations['post-auth-request'];
const json = 'Content-Type: application/json\r\n';
const TRANSFER_IDLE_MS = 200;
const connectionLimits = {
  headersMaxMs: 200,
  transferIdleMs: TRANSFER_IDLE_MS,
  transferRateMin: 10_000,
  checkMs: 20,
};
const DRIP_MS = 10;

let server: TestServer;
const sockets: Socket[] = [];

beforeAll(async () => {
  server = await startTestServer({ connectionLimits });
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

afterAll(() => server.close());

/** Opens a connection that its client never closes. */
function stubborn(url = server.baseUrl): Socket {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), allowHalfOpen: true });
  // The tests wait until the server cuts this connection.
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** Writes a beginning and then the same piece repeatedly, as long as the connection is open. */
function drip(socket: Socket, start: string, piece: string): void {
  socket.write(start);
  const dripping = systemClock.every(DRIP_MS, () => socket.write(piece));
  socket.once('close', () => dripping.cancel());
}

/** Returns what the server sends until it has ended its side of the connection. */
async function responseOn(socket: Socket) {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'end');
  return readResponse(Buffer.concat(chunks).toString());
}

async function expectAnswersOthers(): Promise<void> {
  expect((await server.call('count-devices', { token: server.adminToken })).status).toBe(200);
}

const length = 'Content-Length: 100000\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n';

describe.each(['baseUrl', 'controlUrl'] as const)('a misbehaving client at %s', (url) => {
  it.each<[number, string, string, string]>([
    [408, 'never says anything', '', ''],
    [408, 'stops within the request line', `GET ${path}`, ''],
    [408, 'drips its request line', 'GET /', 'a'],
    [408, 'drips its headers', `GET ${path} HTTP/1.1\r\n`, 'A: b\r\n'],
    [408, 'drips one header', `GET ${path} HTTP/1.1\r\nA: `, 'b'],
    [408, 'drips a second request', `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\nGET ${path}`, 'x'],
    [431, 'sends a header without end', `GET ${path} HTTP/1.1\r\nA: `, 'b'.repeat(20_000)],
    [431, 'sends headers without end', `GET ${path} HTTP/1.1\r\n`, 'A: b\r\n'.repeat(4000)],
    [431, 'sends a path without end', 'GET /', 'a'.repeat(20_000)],
  ])('gets %i and is cut because it %s', async (status, _, start, piece) => {
    const socket = stubborn(server[url]);
    drip(socket, start, piece);
    const text = await responseOn(socket);
    // The first of two requests on a connection gets its own response.
    const last = text.body.includes('HTTP/1.1 4')
      ? readResponse(text.body.slice(text.body.lastIndexOf('HTTP/1.1 4')))
      : text;
    expect(last.status).toBe(status);
    expect(last.headers.connection).toBe('close');
    await expectAnswersOthers();
  });
});

describe('a client that has sent its headers', () => {
  const token = () => `Authorization: Bearer ${server.adminToken}\r\n`;
  const { path: upload } = managementOperations['upload-artifact'];
  const form = 'Content-Type: multipart/form-data; boundary=x\r\n';

  it.each<[string, () => string, string]>([
    ['never sends the body', () => `PUT ${path} HTTP/1.1\r\nHost: a\r\n${length}\r\n`, ''],
    ['drips the body', () => `PUT ${path} HTTP/1.1\r\nHost: a\r\n${length}\r\n`, ' '],
    ['drips chunks', () => `PUT ${path} HTTP/1.1\r\nHost: a\r\n${chunked}\r\n`, '1\r\n \r\n'],
    [
      'drips an upload',
      () => `POST ${upload} HTTP/1.1\r\nHost: a\r\n${token()}${form}${length}\r\n`,
      '-',
    ],
  ])('is cut when it %s', async (_, start, piece) => {
    const socket = stubborn();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    drip(socket, start(), piece);
    const { status } = await responseOn(socket);
    // A client without a token is refused at once; the others time out.
    expect([401, 408]).toContain(status);
    // The client keeps writing until the connection is gone.
    if (piece === '') drip(socket, 'x', 'x');
    await closed;
    await expectAnswersOthers();
  });

  it.each([
    [
      'pauses',
      '',
      /^the body stalled: none of it arrived for \d+ ms after 1 of the [\d,]+ bytes that Content-Length announces; .+ --transfer-idle$/,
    ],
    [
      'drips',
      ' ',
      /^the body stalled: \d+ bytes of it arrived in \d+ ms after \d+ of the [\d,]+ bytes .+ --transfer-rate-min$/,
    ],
  ])('gets 408 with the reason when it %s in the body', async (_, piece, sentence) => {
    const socket = stubborn();
    drip(socket, `POST ${authRequests} HTTP/1.1\r\nHost: a\r\n${json}${length}\r\n{`, piece);
    const { status, body } = await responseOn(socket);
    expect([status, JSON.parse(body).error]).toEqual([408, expect.stringMatching(sentence)]);
  });

  it('may exceed the idle time many times while data arrives', async () => {
    const socket = stubborn();
    const piece = ' '.repeat(1000);
    drip(socket, `POST ${authRequests} HTTP/1.1\r\nHost: a\r\n${json}${length}\r\n`, piece);
    const startMs = systemClock.monotonicMs();
    // The whole body has arrived, but it is not JSON.
    expect((await responseOn(socket)).status).toBe(400);
    expect(systemClock.monotonicMs() - startMs).toBeGreaterThan(3 * TRANSFER_IDLE_MS);
  });

  it('is cut when it does not read its responses', async () => {
    const socket = stubborn();
    socket.pause();
    const { path: list } = managementOperations['list-permission-sets'];
    const requests = `GET ${list} HTTP/1.1\r\nHost: a\r\n${token()}\r\n`.repeat(100);
    drip(socket, requests, requests);
    // Such a client notices the cut only because it can no longer write.
    await once(socket, 'error');
    await expectAnswersOthers();
  });
});

describe('idle connections', () => {
  it('return 503 beyond the limit, and free their places once they are cut', async () => {
    const connectionsMax = 12;
    const small = await startTestServer({
      connectionLimits: { ...connectionLimits, connectionsMax },
    });
    const idle = Array.from({ length: connectionsMax }, () => stubborn(small.baseUrl));
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    const surplus = stubborn(small.baseUrl);
    surplus.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nX-SVC-RequestID: too-many\r\n\r\n`);
    const { status, headers, body } = await responseOn(surplus);
    expect([status, headers['retry-after'], headers.connection]).toEqual([503, '5', 'close']);
    expect(JSON.parse(body)).toEqual({
      error: expect.stringContaining('reached its limit of open connections'),
      request_id: 'too-many',
    });
    const refused = await Promise.all(idle.map(responseOn));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([408]));
    for (const socket of idle) socket.destroy();
    const count = () => small.call('count-devices', { token: small.adminToken });
    let response = await count();
    // The server notices the end of these connections slightly later.
    for (let trip = 0; response.status === 503 && trip < 1000; trip += 1) response = await count();
    expect(response.status).toBe(200);
    await small.close();
  });
});

it('the server waits patiently for the next request of a healthy keep-alive client', async () => {
  const socket = stubborn();
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  socket.write(request);
  await once(socket, 'data');
  await systemClock.sleep(3 * TRANSFER_IDLE_MS);
  socket.write(request);
  const [secondResponse] = await once(socket, 'data');
  expect(readResponse(String(secondResponse)).status).toBe(401);
});
