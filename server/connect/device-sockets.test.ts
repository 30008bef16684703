import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../fixtures/contract/limits.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import {
  type ConnectMessage,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { journalPage } from '../testing/test-journal.ts';
import { startOfTest, startTestServer, type TestServer } from '../testing/test-server.ts';
import { endOf, openSocket, presenceAs, presenceOf, sampleKey } from '../testing/test-sockets.ts';
import { control } from '../testing/test-tenants.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeEach(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'socket');
});

afterEach(() => server.close());

/** Returns the ISO 8601 time that is `seconds` after the start. */
function timeAt(seconds: number): string {
  return new Date(startOfTest + seconds * 1000).toISOString();
}

/** Waits until sent data has arrived: server and client share this process and its loopback. */
async function settle(): Promise<void> {
  for (let trip = 0; trip < 5; trip += 1) await presenceOf(server, device);
}

describe('the heartbeat of a device socket', () => {
  it('sends a ping after 30 s that names the 60 s limit of silence', async () => {
    const socket = await openSocket(server, device);
    let pings = 0;
    socket.on('ping', () => {
      pings += 1;
    });
    server.clock.advance(29_999);
    await settle();
    expect(pings).toBe(0);
    const pinged = once(socket, 'ping');
    server.clock.advance(1);
    expect(String((await pinged)[0])).toBe('60');
  });

  it('cuts a device after exactly 60 s of silence', async () => {
    const socket = await openSocket(server, device, { autoPong: false });
    const pinged = once(socket, 'ping');
    server.clock.advance(30_000);
    await pinged;
    server.clock.advance(29_999);
    await settle();
    expect((await presenceOf(server, device)).status).toBe('connected');
    const ended = endOf(socket);
    server.clock.advance(1);
    expect((await ended).code).toBe(1006);
    expect((await presenceAs(server, device, 'disconnected')).updated_ts).toBe(timeAt(60));
  });

  it('measures silence from the last received data, to the millisecond', async () => {
    const socket = await openSocket(server, device, { autoPong: false });
    server.clock.advance(14_999);
    socket.send(messageOf(1));
    await settle();
    server.clock.advance(59_999);
    await settle();
    expect((await presenceOf(server, device)).status).toBe('connected');
    const ended = endOf(socket);
    server.clock.advance(1);
    expect((await ended).code).toBe(1006);
  });

  it.each([
    ['its pongs', { autoPong: true }, () => undefined],
    ['pings of its own', { autoPong: false }, (socket: { ping(): void }) => socket.ping()],
    ['messages', { autoPong: false }, (socket: Sends) => socket.send(messageOf(1))],
  ])('keeps a device connected that sends %s', async (_, options, speak) => {
    const socket = await openSocket(server, device, options);
    for (let beat = 1; beat <= 6; beat += 1) {
      const pinged = once(socket, 'ping');
      server.clock.advance(30_000);
      await pinged;
      speak(socket);
      await settle();
    }
    expect(await presenceOf(server, device)).toMatchObject({
      status: 'connected',
      updated_ts: timeAt(0),
    });
  });
});

describe('a message from a device', () => {
  it.each([
    ['a small message', messageOf(1)],
    ['a message of an unknown session', encodeConnectMessage({ proto: 1, sid: 'nobody' })],
    ['a message of an unknown protocol', encodeConnectMessage({ proto: 999, typ: 'unheard' })],
    ['a message of 8 MiB', messageOf(limits.websocketMessageMaxBytes)],
  ])('is accepted, and the socket stays open: %s', async (_, message) => {
    const socket = await openSocket(server, device);
    socket.send(message);
    socket.ping();
    await once(socket, 'pong');
    expect(socket.readyState).toBe(1);
  });

  it.each([
    ['a map without a header', Buffer.from([0x80])],
    ['bytes behind a message', Buffer.concat([messageOf(1), Buffer.from([0])])],
    ['a byte that is not msgpack', Buffer.from([0xc1])],
    ['a list that claims billions', Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff])],
    ['8 MiB of garbage', Buffer.alloc(limits.websocketMessageMaxBytes, 0xc1)],
  ])('closes the socket with 1011 and a reason: %s', async (_, message) => {
    const otherSocket = await openSocket(server, await acceptedDevice(server, 'other'));
    const socket = await openSocket(server, device);
    const ended = endOf(socket);
    socket.send(message);
    expect(await ended).toEqual({ code: 1011, reason: expect.stringMatching(/\w{3}/) });
    expect((await presenceAs(server, device, 'disconnected')).status).toBe('disconnected');
    otherSocket.ping();
    await once(otherSocket, 'pong');
    expect(otherSocket.readyState).toBe(1);
  });

  it('without hdr closes the socket with a reason that says where proto belongs', async () => {
    const socket = await openSocket(server, device);
    const ended = endOf(socket);
    socket.send(Buffer.from([0x81, 0xa5, ...Buffer.from('proto'), 1]));
    expect((await ended).reason).toMatch(/^hdr is missing: proto, .* belong in a map hdr$/);
  });

  it('closes the socket with 1009 if it exceeds 8 MiB', async () => {
    const socket = await openSocket(server, device);
    const ended = endOf(socket);
    socket.send(Buffer.alloc(limits.websocketMessageMaxBytes + 1));
    expect((await ended).code).toBe(1009);
    expect((await presenceAs(server, device, 'disconnected')).status).toBe('disconnected');
  });

  it('closes the socket if it exceeds 8 MiB in many fragments', async () => {
    const socket = await openSocket(server, device);
    const ended = endOf(socket);
    for (let part = 0; part < 9; part += 1) {
      socket.send(Buffer.alloc(1_048_576), { fin: part === 8 }, () => undefined);
    }
    expect((await ended).code).toBe(1009);
  });

  it.each([
    ['text', 'hello', 1003],
    ['nothing', '', 1003],
    ['JSON', '{"hdr":{"proto":1}}', 1003],
    ['msgpack', messageOf(1), 1007],
  ])('closes the socket with a reason that asks for a binary frame: %s', async (_, text, code) => {
    const socket = await openSocket(server, device);
    const ended = endOf(socket);
    socket.send(text, { binary: false });
    expect(await ended).toEqual({ code, reason: expect.stringMatching(/binary frame/) });
  });

  it('closes the socket with a reason that asks for msgpack if it is JSON', async () => {
    const socket = await openSocket(server, device);
    const ended = endOf(socket);
    socket.send(Buffer.from('{"hdr":{"proto":1}}'));
    expect((await ended).reason).toBe('the binary frame holds JSON: send a msgpack message');
  });
});

interface Sends {
  send(message: Buffer): void;
}

/** Builds a message of this many bytes, or of the minimum size, for an unknown recipient. */
function messageOf(bytes: number): Buffer {
  const frame = encodeConnectMessage({ proto: 1, body: Buffer.alloc(70_000) }).length - 70_000;
  const body = Buffer.alloc(Math.max(1, bytes - frame));
  return encodeConnectMessage({ proto: 1, body });
}

/** Opens a raw connection after a valid handshake; it does not answer the server. */
async function bareConnection() {
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(
    [
      `GET ${operations.connect.path} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${device.token}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${sampleKey}`,
      '\r\n',
    ].join('\r\n'),
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString()).toMatch(/^HTTP\/1\.1 101 /);
  return socket;
}

describe('a misbehaving device', () => {
  it.each<[string, readonly number[], number, RegExp]>([
    ['an unmasked frame', [0x82, 1, 0x61], 1002, /not masked/],
    ['a reserved opcode', [0x83, 0x80, 0, 0, 0, 0], 1002, /opcode 3 is reserved/],
    ['the first reserved bit', [0xc2, 0x80, 0, 0, 0, 0], 1002, /RSV1 is set/],
    ['the third reserved bit', [0x92, 0x80, 0, 0, 0, 0], 1002, /RSV2 or RSV3/],
    ['a fragmented ping', [0x09, 0x80, 0, 0, 0, 0], 1002, /fragmented/],
    ['a ping of 126 bytes', [0x89, 0xfe, 0, 126, 0, 0, 0, 0], 1002, /at most 125 bytes/],
    ['a continuation of nothing', [0x80, 0x80, 0, 0, 0, 0], 1002, /continues no message/],
    [
      'a message within a message',
      [0x02, 0x80, 0, 0, 0, 0, 0x82, 0x80, 0, 0, 0, 0],
      1002,
      /opcode 2 stands within a message/,
    ],
    ['a close code of one byte', [0x88, 0x81, 0, 0, 0, 0, 3], 1002, /one byte/],
    ['the close code 999', [0x88, 0x82, 0, 0, 0, 0, 3, 0xe7], 1002, /close code 999/],
    ['the close code 1006', [0x88, 0x82, 0, 0, 0, 0, 3, 0xee], 1002, /close code 1006/],
    [
      'a close reason that is not UTF-8',
      [0x88, 0x84, 0, 0, 0, 0, 3, 0xe8, 0xc3, 0x28],
      1007,
      /reason of the close frame is not UTF-8/,
    ],
    ['text that is not UTF-8', [0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28], 1007, /binary frames/],
    ['a message of 16 MiB', [0x82, 0xff, 0, 0, 0, 0, 1, 0, 0, 0], 1009, /announces 16777216; send/],
    [
      'a length in the wrong order',
      [0x82, 0xff, 3, 0, 0, 0, 0, 0, 0, 0],
      1009,
      /highest byte first/,
    ],
    ['plain HTTP', [...Buffer.from('GET / HTTP/1.1\r\n\r\n')], 1002, /RSV1 is set/],
  ])(
    'is closed with a reason that the journal has too: %s',
    async (_, bytes, code, expectedReason) => {
      const socket = await bareConnection();
      socket.write(Buffer.from(bytes));
      const [frame] = (await once(socket, 'data')) as [Buffer];
      const reason = frame.subarray(4).toString();
      expect([frame.readUInt8(0), frame.readUInt16BE(2), reason]).toEqual([
        0x88,
        code,
        expect.stringMatching(expectedReason),
      ]);
      socket.destroy();
      expect((await presenceAs(server, device, 'disconnected')).status).toBe('disconnected');
      const { entries } = await journalPage(server, `device=${device.id}&kind=frame`);
      const last = entries.at(-1);
      expect(last).toMatchObject({ opcode: 'close', from: 'server', code, reason });
      const { text } = await control(server, 'GET', `/explanations/${last?.requestId}`);
      expect(text).toContain(`the server closed its WebSocket with ${code}`);
    },
  );

  it.each<[string, ConnectMessage, RegExp]>([
    [
      'of an unknown protocol',
      { proto: 999, sid: 'a' },
      /^the protocol 999 is unknown; the known ones are 1 \(shell\)/,
    ],
    ['without a session', { proto: 1, typ: 'shell' }, /^the message has no hdr.sid/],
  ])('finds the problem of a message in the journal: %s', async (_, message, problem) => {
    const socket = await openSocket(server, device);
    socket.send(encodeConnectMessage(message));
    socket.ping();
    await once(socket, 'pong');
    const { entries } = await journalPage(server, `device=${device.id}&kind=frame`);
    expect(entries.find(({ opcode }) => opcode === 'message')).toMatchObject({
      proto: message.proto,
      problem: expect.stringMatching(problem),
    });
  });

  it('has no close frame in the journal when it vanishes', async () => {
    const socket = await openSocket(server, device);
    socket.terminate();
    await presenceAs(server, device, 'disconnected');
    const { entries } = await journalPage(server, `device=${device.id}&kind=frame`);
    const reason = 'the client ended the connection without a close frame';
    expect(entries.at(-1)).toMatchObject({ from: 'client', code: 1006, reason });
    const { text } = await control(server, 'GET', `/explanations/${entries.at(-1)?.requestId}`);
    expect(text).toContain(`the client closed its WebSocket with 1006: ${reason}`);
  });

  it('is recorded in the journal as disconnected by the server when it sends nothing', async () => {
    await openSocket(server, device, { autoPong: false });
    server.clock.advance(60_000);
    await presenceAs(server, device, 'disconnected');
    const { entries } = await journalPage(server, `device=${device.id}&kind=frame`);
    expect(entries.at(-1)).toMatchObject({ opcode: 'close', from: 'server', code: 1006 });
  });

  it('is disconnected when it leaves in the middle of a frame', async () => {
    const socket = await bareConnection();
    socket.end(Buffer.from([0x82, 0xfe]));
    expect((await presenceAs(server, device, 'disconnected')).status).toBe('disconnected');
    socket.destroy();
  });
});

describe('the shutdown of the server', () => {
  it('closes every device socket with 1001', async () => {
    const otherDevice = await acceptedDevice(server, 'other');
    const sockets = [await openSocket(server, device), await openSocket(server, otherDevice)];
    const ends = sockets.map(endOf);
    await server.close();
    for (const end of ends) {
      expect(await end).toEqual({ code: 1001, reason: 'server shutting down' });
    }
  });

  it('waits at most a second for a device that does not answer', async () => {
    const socket = await bareConnection();
    const ended = once(socket, 'close');
    const closed = server.close();
    const [frame] = (await once(socket, 'data')) as [Buffer];
    expect([frame.readUInt8(0), frame.readUInt16BE(2)]).toEqual([0x88, 1001]);
    server.clock.advance(1000);
    await closed;
    await ended;
  });
});

describe('a device that reconnects while the server shuts down', () => {
  it('is refused and does not delay the shutdown', async () => {
    const eager = await acceptedDevice(server, 'eager');
    const silent = await bareConnection();
    const first = await openSocket(server, eager);
    const ended = endOf(first);
    const closed = server.close();
    await ended;
    await expect(openSocket(server, eager)).rejects.toThrow();
    server.clock.advance(1000);
    await closed;
    silent.destroy();
  });
});

describe('a decommissioned device', () => {
  it('loses its open socket at once', async () => {
    const socket = await openSocket(server, device);
    const ended = endOf(socket);
    const call = { token: server.adminToken, parameters: { id: device.id } };
    await server.call('decommission-device', call);
    expect(await ended).toEqual({ code: 1008, reason: 'decommissioned' });
    expect((await server.call('get-connection', call)).status).toBe(404);
  });

  it('is disconnected at first when it is accepted again', async () => {
    const socket = await openSocket(server, device);
    const ended = endOf(socket);
    const call = { token: server.adminToken, parameters: { id: device.id } };
    await server.call('decommission-device', call);
    await ended;
    const newDevice = await acceptedDevice(server, 'socket');
    expect(newDevice.id).not.toBe(device.id);
    expect((await presenceOf(server, newDevice)).status).toBe('disconnected');
  });
});
