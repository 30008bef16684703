import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { ObservedClock } from '../testing/looked-at-clock.ts';
import { openConnection, rawRequest, readResponse, untilClosed } from '../testing/raw-http.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  knownDevices,
  newDevice,
  signatureOf,
} from '../testing/test-device.ts';
import { journalPage } from '../testing/test-journal.ts';
import { startOfTest, startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeEach(async () => {
  server = await startTestServer({ logLevel: 'error', clock: new ObservedClock(startOfTest) });
  device = await acceptedDevice(server, 'polling');
});

afterEach(() => server.close());

const authRequestsPath = operations['post-auth-request'].path;
const pollLine = `GET ${operations['get-next-deployment'].path}?artifact_name=release-1&device_type=board`;

function poll(...more: readonly string[]): string {
  return rawRequest(pollLine, [`Authorization: Bearer ${device.token}`, ...more]);
}

/** Returns the first contact of a new device with this name. */
function authRequest(name: string, ...more: readonly string[]): string {
  const { head, body } = authRequestParts(name, more);
  return head + body;
}

function authRequestParts(name: string, more: readonly string[]) {
  const { idData, publicKeyPem, privateKey } = newDevice(name);
  const body = JSON.stringify({ id_data: idData, pubkey: publicKeyPem });
  const head = rawRequest(`POST ${authRequestsPath}`, [
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `${server.headerPrefix}-Signature: ${signatureOf(body, privateKey)}`,
    `${server.headerPrefix}-RequestID: ${name}`,
    ...more,
  ]);
  return { head, body };
}

/** The names of 100 devices, which is more than start in one iteration. */
const names = Array.from({ length: 100 }, (_, at) => `new-${at}`);

/** Returns connections that the server has accepted; others would be read in a later iteration. */
function acceptedConnections(count: number): Promise<Socket[]> {
  const opened = Array.from({ length: count }, async () => {
    const socket = await openConnection(server);
    socket.write(poll('Connection: keep-alive'));
    await once(socket, 'data');
    return socket;
  });
  return Promise.all(opened);
}

function write(sockets: readonly Socket[], texts: readonly string[]): void {
  for (const [at, socket] of sockets.entries()) socket.write(texts[at] ?? '');
}

/** Sends the first contacts of all names at once, and returns their connections. */
async function authenticateAll(): Promise<Socket[]> {
  const sockets = await acceptedConnections(names.length);
  writeWhole(sockets);
  return sockets;
}

function writeWhole(sockets: readonly Socket[]): void {
  const requests = names.map((name) => authRequest(name));
  write(sockets, requests);
}

/** Sends the heads of the first contacts, and once the server has read them, their bodies. */
async function writeHeadsFirst(sockets: readonly Socket[]): Promise<void> {
  const requests = names.map((name) => authRequestParts(name, ['Expect: 100-continue']));
  const continues = sockets.map((socket) => once(socket, 'data'));
  const heads = requests.map(({ head }) => head);
  const bodies = requests.map(({ body }) => body);
  write(sockets, heads);
  await Promise.all(continues);
  // These are as many event-loop iterations as all requests would take if the heads took turns.
  for (let iteration = 0; iteration < names.length; iteration += 8) await identities();
  write(sockets, bodies);
}

async function identities(): Promise<unknown[]> {
  return (await knownDevices(server)).map(({ identity_data: data }) => data.mac);
}

describe('many simultaneous authentication requests', () => {
  it('are all answered in order of arrival', async () => {
    const answered: number[] = [];
    const sockets = await authenticateAll();
    const responses = sockets.map(async (socket, at) => {
      socket.once('data', () => answered.push(at));
      return readResponse(await untilClosed(socket)).status;
    });
    expect(new Set(await Promise.all(responses))).toEqual(new Set([401]));
    expect(answered).toEqual(names.map((_, at) => at));
  });

  it.each([
    ['in one piece', writeWhole],
    ['as bodies that follow their headers', writeHeadsFirst],
  ])('do not delay a later poll: %s', async (_, writeAll) => {
    const [polling] = await acceptedConnections(1);
    const sockets = await acceptedConnections(names.length);
    let answered = 0;
    await writeAll(sockets);
    polling?.write(poll());
    const responses = sockets.map(async (socket) => {
      socket.once('data', () => {
        answered += 1;
      });
      return untilClosed(socket);
    });
    await once(polling as Socket, 'data');
    expect(answered).toBeLessThan(names.length / 2);
    await Promise.all(responses);
  });

  it('skip a disconnected caller, whose exchange the journal shows as cut', async () => {
    const sockets = await authenticateAll();
    const last = sockets.pop();
    last?.destroy();
    await Promise.all(sockets.map(untilClosed));
    expect(await identities()).not.toContain(names.at(-1));
    const { entries } = await journalPage(server, 'operation=post-auth-request&limit=500');
    expect(entries.filter(({ status }) => status === 0)).toMatchObject([{ cut: true }]);
  });

  it('do not delay the refusal of an oversized body', async () => {
    const sockets = await authenticateAll();
    const [large] = await acceptedConnections(1);
    const announced = ['Content-Length: 9999999'];
    large?.write(rawRequest(`POST ${authRequestsPath}`, announced, 'x'.repeat(100_000)));
    expect(readResponse(await untilClosed(large as Socket)).status).toBe(413);
    await Promise.all(sockets.map(untilClosed));
  });

  it('are handled one after the other on one connection', async () => {
    const sockets = await authenticateAll();
    const [pipelining] = await acceptedConnections(1);
    const [first, second] = ['piped-1', 'piped-2'];
    pipelining?.write(authRequest(first, 'Connection: keep-alive') + authRequest(second));
    const responses = await untilClosed(pipelining as Socket);
    expect(responses.match(/piped-\d(?=\r)/g)).toEqual([first, second]);
    await Promise.all(sockets.map(untilClosed));
    const known = await identities();
    expect(known.indexOf(first)).toBeLessThan(known.indexOf(second));
  });
});

describe('many unauthorized requests at once', () => {
  it.each([
    ['to no path', 404, () => rawRequest('GET /nope')],
    ['to a path of thousands of segments', 404, () => rawRequest(`GET /${'a/'.repeat(7000)}`)],
    ['with a method that the path has not', 405, () => rawRequest(`DELETE ${authRequestsPath}`)],
    ['with too many headers', 431, () => rawRequest('GET /nope', Array(200).fill('A: b'))],
    ['that are not HTTP', 400, () => 'nothing\r\n\r\n'],
  ])('do not delay a later poll: requests %s, which return %i', async (_, status, request) => {
    const [polling] = await acceptedConnections(1);
    const sockets = await acceptedConnections(names.length);
    let answered = 0;
    const responses = sockets.map(async (socket) => {
      socket.once('data', () => {
        answered += 1;
      });
      return readResponse(await untilClosed(socket)).status;
    });
    for (const socket of sockets) socket.write(request());
    polling?.write(poll());
    await once(polling as Socket, 'data');
    expect(answered).toBeLessThan(names.length / 2);
    expect(new Set(await Promise.all(responses))).toEqual(new Set([status]));
  });
});

describe('a caller with many simultaneous requests', () => {
  it('gets one turn for each turn of another caller', async () => {
    const otherDevice = await acceptedDevice(server, 'other');
    const [polling] = await acceptedConnections(1);
    const sockets = await acceptedConnections(names.length);
    let answered = 0;
    for (const socket of sockets) {
      socket.once('data', () => {
        answered += 1;
      });
      socket.write(rawRequest(pollLine, [`Authorization: Bearer ${otherDevice.token}`]));
    }
    polling?.write(poll());
    await once(polling as Socket, 'data');
    expect(answered).toBeLessThan(names.length / 2);
    await Promise.all(sockets.map(untilClosed));
    expect(answered).toBe(names.length);
  });
});

describe('a server that stops while authentication requests wait', () => {
  it('drops the waiting requests without an error', async () => {
    const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => logged.mockRestore());
    const sockets = await authenticateAll();
    const responses = sockets.map((socket) => untilClosed(socket).catch(() => ''));
    await once(sockets[0] as Socket, 'data');
    await server.close();
    expect(await Promise.all(responses)).toContain('');
    expect(logged).not.toHaveBeenCalled();
  });
});
