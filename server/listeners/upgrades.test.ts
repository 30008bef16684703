import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { openSockets, reach } from '../testing/raw-connection.ts';
import { readResponse, untilClosed } from '../testing/raw-http.ts';
import { linkTo, publish } from '../testing/test-artifacts.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  newDevice,
  signatureOf,
} from '../testing/test-device.ts';
import { journalPage } from '../testing/test-journal.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { startTlsServer } from '../testing/test-tls.ts';

const FILE_BYTES = 1_000_000;

const protocols = ['websocket', 'h2c', 'TLS/1.0', 'anything'] as const;
const closing = 'Connection: close';

/** Returns headers that ask for another protocol, as a client does that prefers it. */
function upgradeHeaders(protocol: string, connection = 'Upgrade'): string {
  return `Connection: ${connection}\r\nUpgrade: ${protocol}`;
}

function textOf(line: string, ...headers: readonly string[]): string {
  return `${[`${line} HTTP/1.1`, 'Host: test', ...headers].join('\r\n')}\r\n\r\n`;
}

function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** Writes each part separately; returns all that the server sends until it closes. */
async function answers(url: string, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = await reach(url);
  for (const part of parts) await new Promise((resolve) => socket.write(part, resolve));
  return untilClosed(socket);
}

describe.each([
  ['plain', startTestServer],
  ['encrypted', startTlsServer],
])('a request for an unsupported protocol, %s,', (_, start) => {
  let server: TestServer;
  let device: AcceptedDevice;
  let file: string;

  beforeAll(async () => {
    server = await start();
    device = await acceptedDevice(server, 'upgrades');
    const content = seededRandom('upgrades').bytes(FILE_BYTES);
    const id = await publish(server, { files: [{ name: 'large', content }] });
    const { pathname, search } = new URL((await linkTo(server, device.token, id)).uri);
    file = pathname + search;
  });

  afterAll(() => server.close());

  const authorization = () => `Authorization: Bearer ${device.token}`;
  const put = `PUT ${operations['put-configuration'].path}`;
  const get = `GET ${operations['get-configuration'].path}`;
  const last = () => textOf(get, authorization(), closing);

  it.each(protocols)('is answered in full and keeps its connection: %s', async (protocol) => {
    const socket = await reach(server.baseUrl);
    socket.write(textOf(`GET ${file}`, upgradeHeaders(protocol)));
    let received = 0;
    while (received < FILE_BYTES) {
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      received += chunk.length;
    }
    socket.write(last());
    expect(statusesOf(await untilClosed(socket))).toEqual([200]);
  });

  it('may have a body, of known length or chunked', async () => {
    const json = ['Content-Type: application/json', authorization(), upgradeHeaders('h2c')];
    const known = `${textOf(put, ...json, 'Content-Length: 12')}{"at":"one"}`;
    expect(statusesOf(await answers(server.baseUrl, known, last()))).toEqual([204, 200]);
    expect(await answers(server.baseUrl, last())).toContain('{"at":"one"}');
    const chunked = `${textOf(put, ...json, 'Transfer-Encoding: chunked')}6\r\n{"at":\r\n`;
    const furtherBytes = `6\r\n"two"}\r\n0\r\n\r\n${last()}`;
    expect(statusesOf(await answers(server.baseUrl, chunked, furtherBytes))).toEqual([204, 200]);
    expect(await answers(server.baseUrl, last())).toContain('{"at":"two"}');
  });

  it('gets 100 Continue before its body like other requests', async () => {
    const socket = await reach(server.baseUrl);
    const headers = ['Content-Type: application/json', 'Content-Length: 2', 'Expect: 100-continue'];
    socket.write(textOf(put, authorization(), upgradeHeaders('h2c', 'Upgrade, close'), ...headers));
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(String(first)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{}');
    expect(readResponse(await untilClosed(socket)).status).toBe(204);
  });

  it('is answered in order when several share a packet', async () => {
    const ask = upgradeHeaders('h2c');
    const body = ['Content-Length: 2', 'Content-Type: application/json', authorization()];
    const requests = [
      textOf('GET /first', ask),
      textOf(get, authorization(), ask),
      `${textOf(put, ...body, ask)}{}`,
      textOf('GET /fourth'),
      textOf(`GET ${file}`, ask),
      textOf('PATCH /sixth', ask),
      last(),
    ];
    const text = await answers(server.baseUrl, requests.join(''));
    expect(statusesOf(text)).toEqual([404, 200, 204, 404, 200, 404, 200]);
  });

  it("does not turn a later request's body into a request", async () => {
    const inner = textOf('GET /inner', authorization());
    const outer = textOf(put, authorization(), `Content-Length: ${inner.length + 50_000}`);
    const head = textOf(get, upgradeHeaders('h2c'), authorization()) + outer;
    const text = await answers(server.baseUrl, head + ' '.repeat(50_000), inner + last());
    expect(statusesOf(text)).toEqual([200, 400, 200]);
  });

  it('waits for the responses to earlier requests on its connection', async () => {
    const { path } = operations['post-auth-request'];
    const requests = Array.from({ length: 30 }, (_, at) => {
      const { idData, publicKeyPem, privateKey } = newDevice(`before-${at}`);
      const body = JSON.stringify({ id_data: idData, pubkey: publicKeyPem });
      const signature = `X-SVC-Signature: ${signatureOf(body, privateKey)}`;
      const headers = [`Content-Length: ${body.length}`, 'Content-Type: application/json'];
      return textOf(`POST ${path}`, signature, ...headers) + body;
    });
    const ask = textOf('GET /behind', upgradeHeaders('h2c'));
    const text = await answers(server.baseUrl, requests.join('') + ask, last());
    expect(statusesOf(text)).toEqual([...requests.map(() => 401), 404, 200]);
  });

  it('waits for long earlier responses, and later packets wait for it', async () => {
    const socket = await reach(server.baseUrl);
    const ask = textOf('GET /behind', upgradeHeaders('h2c'));
    const early = textOf(`GET ${file}`).repeat(3);
    socket.write(early + ask + textOf('GET /in-one-packet'));
    let text = '';
    while (!text.includes('X-SVC-RequestID: last-of-these')) {
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      if (text === '') socket.write(textOf('GET /later', 'X-SVC-RequestID: last-of-these'));
      text += chunk.toString('latin1');
    }
    socket.write(last());
    text += await untilClosed(socket);
    expect(statusesOf(text)).toEqual([200, 200, 200, 404, 404, 404, 200]);
    expect(text.length).toBeGreaterThan(3 * FILE_BYTES);
  });

  it('appears unchanged in the journal', async () => {
    const socket = await reach(server.baseUrl);
    const id = 'X-SVC-RequestID: as-sent';
    socket.write(textOf('GET /nowhere', id, upgradeHeaders('h2c', 'close, Upgrade')));
    await untilClosed(socket);
    const { entries } = await journalPage(server, 'limit=500&whole=true');
    const sent = entries.find(({ requestId }) => requestId === 'as-sent');
    expect(sent?.requestHeaders).toContainEqual(['Upgrade', 'h2c']);
  });

  it.each<[string, (socket: Socket) => Promise<unknown>]>([
    ['read nothing', () => Promise.resolve()],
    ['leave in the middle of the response', (socket) => once(socket, 'data')],
    ['read slowly, and leave at the end', readSlowly],
    ['only end their side', (socket) => Promise.resolve(socket.resume().end())],
  ])('leaves no open socket after 125 clients that %s', async (_, act) => {
    const socketsBefore = openSockets();
    for (let round = 0; round < 5; round += 1) {
      const clients = Array.from({ length: 25 }, async (_, at) => {
        const socket = await reach(server.baseUrl);
        socket.on('error', () => socket.destroy());
        const protocol = protocols[at % protocols.length] ?? '';
        socket.write(textOf(`GET ${file}`, upgradeHeaders(protocol)));
        await act(socket);
        if (!socket.writableEnded) socket.destroy();
        if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
      });
      await Promise.all(clients);
    }
    expect(await waitForOpenSockets(socketsBefore)).toBeLessThanOrEqual(socketsBefore);
  });

  /** Returns the open sockets after the server has noticed which clients have closed. */
  async function waitForOpenSockets(max: number): Promise<number> {
    for (let trip = 0; trip < 200 && openSockets() > max; trip += 1) {
      await (await reach(server.baseUrl)).end().resume().toArray();
    }
    return openSockets();
  }
});

async function readSlowly(socket: Socket): Promise<void> {
  socket.pause();
  let received = 0;
  while (received < FILE_BYTES) {
    const chunk = socket.read(Math.min(65_536, socket.readableLength || 1)) as Buffer | null;
    if (chunk) received += chunk.length;
    else await once(socket, 'readable');
  }
}

describe('a request for another protocol on the control listener', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer();
  });

  afterAll(() => server.close());

  const authorized = () => `Authorization: Bearer ${server.controlToken}`;
  const local = (line: string, ...headers: readonly string[]) =>
    textOf(line, ...headers).replace('Host: test', 'Host: 127.0.0.1');

  it.each(protocols)('is answered like any other: %s', async (protocol) => {
    const page = await (await fetch(server.controlUrl)).text();
    const asset = `GET ${/src="\.?(\/[^"]+\.js)"/.exec(page)?.[1]}`;
    const list = `GET /management${managementOperations['list-devices'].path}`;
    const text = await answers(
      server.controlUrl,
      local(asset, upgradeHeaders(protocol)) + local(list, authorized(), upgradeHeaders(protocol)),
      local('GET /ready', closing),
    );
    expect(statusesOf(text)).toEqual([200, 200, 200]);
    expect(text.length).toBeGreaterThan(65_536);
  });

  it('may have a body, which the listener reads', async () => {
    const headers = ['Content-Length: 11', 'Content-Type: application/json', authorized()];
    const request =
      local('POST /clock', ...headers, upgradeHeaders('h2c')) + '{"skip":"x"}'.slice(1);
    const text = await answers(server.controlUrl, request, local('GET /ready', closing));
    expect(statusesOf(text)).toEqual([400, 200]);
  });
});

describe('a WebSocket handshake', () => {
  let server: TestServer;
  let device: AcceptedDevice;

  beforeAll(async () => {
    server = await startTestServer();
    device = await acceptedDevice(server, 'handshake');
  });

  afterAll(() => server.close());

  const handshake = () =>
    textOf(
      `GET ${operations.connect.path}`,
      upgradeHeaders('websocket'),
      `Authorization: Bearer ${device.token}`,
      `Sec-WebSocket-Version: ${limits.websocketVersion}`,
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    );

  it('waits for the responses to earlier requests on its connection', async () => {
    const socket = await reach(server.baseUrl);
    const list = textOf(
      `GET ${managementOperations['list-permission-sets'].path}`,
      `Authorization: Bearer ${server.adminToken}`,
    );
    // The client sends a close frame, which the server answers with its own.
    const close = Buffer.from([0x88, 0x80, 0, 0, 0, 0]);
    socket.write(Buffer.concat([Buffer.from(list.repeat(5) + handshake()), close]));
    socket.once('end', () => socket.end());
    const text = await untilClosed(socket);
    expect(statusesOf(text)).toEqual([200, 200, 200, 200, 200, 101]);
    expect(text.slice(text.lastIndexOf('\r\n\r\n') + 4)).toBe('\x88\x00');
  });

  it('returns 400, not 101, when it names another protocol', async () => {
    const otherHandshake = handshake().replace('websocket', 'h2c');
    const text = await answers(server.baseUrl, otherHandshake, textOf('GET /last', closing));
    expect(statusesOf(text)).toEqual([400, 404]);
  });
});
