import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../fixtures/contract/limits.ts';
import {
  connectErrorShape,
  decodeBody,
  encodeBody,
} from '../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  connectProtocols,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { connectPeer, connectUser, type Peer } from '../testing/test-peer.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { endOf, presenceOf } from '../testing/test-sockets.ts';

const { shell, fileTransfer, portForward, menderClient, control } = connectProtocols;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let server: TestServer;
let identity: AcceptedDevice;
let device: Peer;

beforeEach(async () => {
  server = await startTestServer();
  identity = await acceptedDevice(server, 'relay');
  device = await connectPeer(server, identity);
});

afterEach(() => server.close());

/** Returns the user that a token names. */
function subjectOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub;
}

/** A user whose message reached the device, with the session that the server created. */
async function userInSession(): Promise<{ user: Peer; session: ConnectMessage }> {
  const user = await connectUser(server, identity);
  user.say({ proto: control, typ: 'ping' });
  return { user, session: await device.nextOf('ping') };
}

describe('a message from a user', () => {
  it("reaches the device with the server's session ID and the user's own ID", async () => {
    const user = await connectUser(server, identity);
    const props = { terminal_height: 24, terminal_width: 80, user_id: 'somebody else' };
    user.say({ proto: shell, typ: 'new', sid: 'somebody else', props, body: Buffer.from('hi') });
    expect(plain(await device.next())).toEqual({
      proto: shell,
      typ: 'new',
      sid: expect.stringMatching(uuid),
      props: { ...props, user_id: subjectOf(server.adminToken) },
      body: '6869',
    });
  });

  it('belongs to one session per socket, whatever session ID it names', async () => {
    const first = await userInSession();
    const second = await userInSession();
    expect(second.session.sid).not.toBe(first.session.sid);
    const { sid = '' } = first.session;
    second.user.say({ proto: shell, typ: 'shell', sid, body: Buffer.from('rm -rf /') });
    expect((await device.next()).sid).toBe(second.session.sid);
  });

  it('reaches only the device of the user', async () => {
    const otherIdentity = await acceptedDevice(server, 'other');
    const otherPeer = await connectPeer(server, otherIdentity);
    const user = await connectUser(server, otherIdentity);
    user.say({ proto: control, typ: 'ping' });
    await otherPeer.nextOf('ping');
    await device.waitUntilReceived();
    expect(device.waiting).toEqual([]);
  });
});

describe('a message from the device', () => {
  it('reaches the user of its session and no other user', async () => {
    const first = await userInSession();
    const second = await userInSession();
    device.reply(second.session, { proto: shell, typ: 'shell', body: Buffer.from('two') });
    device.reply(first.session, { proto: shell, typ: 'shell', body: Buffer.from('one') });
    expect(textOf(await first.user.next())).toBe('one');
    expect(textOf(await second.user.next())).toBe('two');
    await Promise.all([first.user.waitUntilReceived(), second.user.waitUntilReceived()]);
    expect([first.user.waiting, second.user.waiting]).toEqual([[], []]);
  });

  it.each([
    ['of no session', {}],
    ['of an unknown session', { sid: '00000000-0000-4000-8000-000000000000' }],
  ])('is dropped when it is %s', async (_, fields) => {
    const { user, session } = await userInSession();
    device.say({ proto: shell, typ: 'shell', body: Buffer.from('lost'), ...fields });
    device.reply(session, { proto: shell, typ: 'shell', body: Buffer.from('found') });
    expect(textOf(await user.next())).toBe('found');
  });

  it('is dropped when it names a session of another device', async () => {
    const { user, session } = await userInSession();
    const otherDevice = await connectPeer(server, await acceptedDevice(server, 'stranger'));
    otherDevice.reply(session, { proto: shell, typ: 'shell', body: Buffer.from('forged') });
    await otherDevice.waitUntilReceived();
    device.reply(session, { proto: control, typ: 'pong' });
    expect((await user.next()).typ).toBe('pong');
  });

  it('is dropped when its user has left, and the device stays connected', async () => {
    const { user, session } = await userInSession();
    user.socket.close();
    await endOf(user.socket);
    device.reply(session, { proto: shell, typ: 'shell', body: Buffer.from('late') });
    await device.waitUntilReceived();
    expect((await presenceOf(server, identity)).status).toBe('connected');
  });

  it('may have a size of 8 MiB', async () => {
    const { user, session } = await userInSession();
    const frame = encodeConnectMessage({ ...session, body: Buffer.alloc(70_000) }).length - 70_000;
    const body = Buffer.alloc(limits.websocketMessageMaxBytes - frame, 7);
    device.say({ ...session, body });
    expect((await user.next()).body?.length).toBe(body.length);
  });
});

describe('a message between a user and a device', () => {
  const connection = { connection_id: 'a' };
  const target = { remote_host: 'localhost', remote_port: 22, protocol: 'tcp' };
  it.each<[string, ConnectMessage, ConnectMessage]>([
    [
      'a handshake',
      { proto: control, typ: 'open', body: encodeBody({ versions: [1] }) },
      { proto: control, typ: 'accept', body: encodeBody({ version: 1, protocols: [1, 2, 3, 4] }) },
    ],
    [
      'a handshake that is refused',
      { proto: control, typ: 'open', body: encodeBody({ versions: [2] }) },
      { proto: control, typ: 'error', body: encodeBody({ err: 'require version 1', close: true }) },
    ],
    ['a ping', { proto: control, typ: 'ping' }, { proto: control, typ: 'pong' }],
    [
      'a shell that begins',
      { proto: shell, typ: 'new', props: { terminal_height: 60_000, terminal_width: 1 } },
      { proto: shell, typ: 'new', props: { status: 1 }, body: Buffer.from('Shell started') },
    ],
    [
      'keys and output',
      { proto: shell, typ: 'shell', body: Buffer.from([0, 0xff, 0x80, 10]) },
      { proto: shell, typ: 'shell', body: Buffer.from([0x1b, 0x5b, 0xc1]) },
    ],
    [
      'a resize, and a ping of the shell',
      { proto: shell, typ: 'resize', props: { terminal_height: 1, terminal_width: 2 } },
      { proto: shell, typ: 'ping', props: { timeout: 60 } },
    ],
    [
      'the way to a file',
      { proto: fileTransfer, typ: 'stat', body: encodeBody({ path: '/etc/motd' }) },
      { proto: fileTransfer, typ: 'error', body: encodeBody({ err: 'no', msgtype: 'stat' }) },
    ],
    [
      'a chunk and its acknowledgement',
      { proto: fileTransfer, typ: 'file_chunk', props: { offset: 0 }, body: Buffer.alloc(4096) },
      { proto: fileTransfer, typ: 'ack', props: { offset: 4096 } },
    ],
    [
      'a port forward',
      { proto: portForward, typ: 'new', props: connection, body: encodeBody(target) },
      { proto: portForward, typ: 'new', props: connection },
    ],
    [
      'forwarded bytes',
      { proto: portForward, typ: 'forward', props: connection, body: Buffer.from([0]) },
      { proto: portForward, typ: 'ack', props: connection },
    ],
    [
      'a command',
      { proto: menderClient, typ: 'check-update' },
      { proto: menderClient, typ: 'check-update', props: { status: 2 }, body: Buffer.from('no') },
    ],
    [
      'an unknown type',
      { proto: control, typ: 'dance' },
      { proto: control, typ: 'error', body: encodeBody({ err: 'not understood', close: false }) },
    ],
    ['an unknown protocol', { proto: 4711, typ: 'x', props: { deep: { map: [1] } } }, { proto: 0 }],
    ['a message without a type', { proto: shell }, { proto: shell }],
  ])('passes the relay unchanged both ways when it is %s', async (_, message, reply) => {
    const user = await connectUser(server, identity);
    user.say(message);
    const { sid = '', ...heard } = await device.next();
    const props = { ...message.props, user_id: subjectOf(server.adminToken) };
    expect(plain(heard)).toEqual(plain({ ...message, props }));
    device.say({ ...reply, sid });
    expect(plain(await user.next())).toEqual(plain({ ...reply, sid }));
  });
});

function textOf({ body = new Uint8Array() }: ConnectMessage): string {
  return Buffer.from(body).toString();
}

/** Returns the message with its body in a format that compares by content. */
function plain({ body, ...rest }: ConnectMessage) {
  return body ? { ...rest, body: Buffer.from(body).toString('hex') } : rest;
}

/** Returns a shell message whose frame to the device has exactly this many bytes. */
function framedMessage({ sid = '', props = {} }: ConnectMessage, bytes: number): ConnectMessage {
  const message = { proto: shell, typ: 'shell' };
  const frame = encodeConnectMessage({ ...message, sid, props, body: Buffer.alloc(1000) }).length;
  return { ...message, body: Buffer.alloc(bytes - (frame - 1000), 97) };
}

describe('a message above the size that devices read', () => {
  it('is not relayed; the user gets an error, and the session continues', async () => {
    const { user, session } = await userInSession();
    user.say(framedMessage(session, limits.connectDeviceMessageMaxBytes + 1));
    const message = await user.next();
    expect(message).toMatchObject({ proto: control, typ: 'error', sid: session.sid });
    expect(decodeBody(connectErrorShape, message.body)).toEqual({
      err: 'the message was not forwarded: devices read at most 8192 bytes, headers included',
      close: false,
      msgproto: shell,
      msgtype: 'shell',
    });
    user.say({ proto: control, typ: 'ping' });
    await device.nextOf('ping');
    expect(user.socket.readyState).toBe(1);
  });

  it('has 8193 bytes or more, whereas 8192 bytes are relayed', async () => {
    const { user, session } = await userInSession();
    const fitting = framedMessage(session, limits.connectDeviceMessageMaxBytes);
    user.say(fitting);
    const heard = await device.nextOf('shell');
    expect(heard.body?.length).toBe(fitting.body?.length);
    expect(encodeConnectMessage(heard)).toHaveLength(8192);
  });

  it('may have 8 MiB, or 20 KB of properties', async () => {
    const { user } = await userInSession();
    const { websocketMessageMaxBytes: max } = limits;
    const note = 'n'.repeat(20_000);
    const message = { proto: shell, typ: 'shell', props: { note } };
    const frame = encodeConnectMessage({ ...message, body: Buffer.alloc(70_000) }).length - 70_000;
    for (const body of [undefined, Buffer.alloc(max - frame)]) {
      user.say({ ...message, ...(body && { body }) });
      expect((await user.next()).typ).toBe('error');
    }
    expect(user.socket.readyState).toBe(1);
  });
});

describe('a user who sends invalid data', () => {
  it.each([
    ['text', 1003, 'ls'],
    ['a map without a header', 1011, Buffer.from([0x80])],
    ['a byte that is not msgpack', 1011, Buffer.from([0xc1])],
    [
      'a message that ends too early',
      1011,
      encodeConnectMessage({ proto: 1, typ: 'x' }).subarray(0, 9),
    ],
    ['maps without an end', 1011, Buffer.alloc(100_000, 0x81)],
  ])('is closed for %s with %i, and all other peers stay connected', async (_, code, garbage) => {
    const otherSession = await userInSession();
    const { user } = await userInSession();
    const ended = endOf(user.socket);
    user.socket.send(garbage);
    expect(await ended).toEqual({ code, reason: expect.stringMatching(/\w{3}/) });
    device.reply(otherSession.session, { proto: control, typ: 'pong' });
    expect((await otherSession.user.next()).typ).toBe('pong');
    expect(device.waiting).toEqual([]);
  });

  it('is closed with 1009 after a message of more than 8 MiB', async () => {
    const { user } = await userInSession();
    const ended = endOf(user.socket);
    user.socket.send(Buffer.alloc(limits.websocketMessageMaxBytes + 1));
    expect((await ended).code).toBe(1009);
    await device.waitUntilReceived();
    expect(device.socket.readyState).toBe(1);
  });

  it('has all later messages ignored, even valid ones', async () => {
    const { user } = await userInSession();
    const ended = endOf(user.socket);
    user.socket.send('garbage');
    user.say({ proto: shell, typ: 'shell', body: Buffer.from('reboot') });
    await ended;
    await device.waitUntilReceived();
    expect(device.waiting).toEqual([]);
  });
});

describe('the keep-alive of a user', () => {
  it('is answered by the server and never requested', async () => {
    const { user } = await userInSession();
    let pings = 0;
    user.socket.on('ping', () => {
      pings += 1;
    });
    for (let beat = 1; beat <= 5; beat += 1) {
      const pinged = once(device.socket, 'ping');
      server.clock.advance(limits.websocketPingSeconds * 1000);
      await pinged;
      await device.waitUntilReceived();
    }
    await user.waitUntilReceived();
    expect([pings, user.socket.readyState]).toEqual([0, 1]);
  });
});
