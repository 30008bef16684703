import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../fixtures/contract/limits.ts';
import { encodeBody } from '../../fixtures/formats/connect-bodies.ts';
import { type ConnectMessage, connectProtocols } from '../../fixtures/formats/connect-message.ts';
import { entries } from '../testing/test-audit.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { connectPeer, connectUser, type Peer, userSocketPath } from '../testing/test-peer.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { endOf, presenceOf, sendUpgrade } from '../testing/test-sockets.ts';

const { shell, portForward, control } = connectProtocols;

let server: TestServer;
let identity: AcceptedDevice;
let device: Peer;

beforeEach(async () => {
  server = await startTestServer();
  identity = await acceptedDevice(server, 'relay');
  device = await connectPeer(server, identity);
});

afterEach(() => server.close());

/** Sends messages as a new user; the copy that reaches the device identifies the session. */
async function userSaying(...messages: readonly ConnectMessage[]) {
  const user = await connectUser(server, identity);
  let session: ConnectMessage = { proto: 0 };
  for (const message of messages) {
    user.say(message);
    session = await device.next();
  }
  return { user, session };
}

async function leave(user: Peer, how: 'close' | 'terminate' = 'close'): Promise<void> {
  const ended = endOf(user.socket);
  user.socket[how]();
  await ended;
}

/** Waits until sent data has arrived: all sides share this process and its loopback. */
async function settle(): Promise<void> {
  for (let trip = 0; trip < 5; trip += 1) await presenceOf(server, identity);
  await device.waitUntilReceived();
}

const newShell = { proto: shell, typ: 'new' };
const openSession = { proto: control, typ: 'open', body: encodeBody({ versions: [1] }) };
const ping = { proto: control, typ: 'ping' };

describe('a user who disconnects', () => {
  it.each(['close', 'terminate'] as const)('ends the running shell by %s', async (how) => {
    const { user, session } = await userSaying(newShell);
    await leave(user, how);
    const stop = await device.next();
    expect({ ...stop, body: String(Buffer.from(stop.body ?? [])) }).toEqual({
      proto: shell,
      typ: 'stop',
      sid: session.sid,
      props: { status: 2, user_id: session.props?.user_id },
      body: 'user disconnected',
    });
  });

  it('ends the running shell also when disconnected because of an invalid message', async () => {
    const { user } = await userSaying(newShell);
    user.socket.send('garbage');
    expect((await device.next()).typ).toBe('stop');
  });

  it('ends the shell first, and then the session that was opened', async () => {
    const { user, session } = await userSaying(openSession, newShell);
    await leave(user);
    await device.nextOf('stop');
    expect(await device.next()).toMatchObject({ proto: control, typ: 'close', sid: session.sid });
  });

  it.each<[string, readonly ConnectMessage[]]>([
    ['was running', [ping]],
    ['is running any more', [newShell, { proto: shell, typ: 'stop' }]],
    ['was asked for: `new` was of another protocol', [{ proto: portForward, typ: 'new' }]],
    ['or session is left', [openSession, { proto: control, typ: 'close' }]],
  ])('causes no message to the device if no shell %s', async (_, messages) => {
    const { user } = await userSaying(...messages);
    await leave(user);
    await settle();
    expect(device.waiting).toEqual([]);
  });

  it.each<[string, ConnectMessage]>([
    ['has ended', { proto: shell, typ: 'stop', props: { status: 1 } }],
    ['could not start', { proto: shell, typ: 'new', props: { status: 2 } }],
  ])('causes no message to a device whose report says that the shell %s', async (_, messages) => {
    const { user, session } = await userSaying(newShell);
    device.reply(session, messages);
    await user.next();
    await leave(user);
    await settle();
    expect(device.waiting).toEqual([]);
  });

  it.each<[string, readonly ConnectMessage[]]>([
    [
      'has ended by itself, since field devices keep its place',
      [
        { proto: shell, typ: 'new', props: { status: 1 } },
        { proto: shell, typ: 'stop', props: { status: 2 } },
      ],
    ],
    [
      'runs on when a second one was refused',
      [
        { proto: shell, typ: 'new', props: { status: 1 } },
        { proto: shell, typ: 'new', props: { status: 2 } },
      ],
    ],
  ])('stops a shell that %s', async (_, messages) => {
    const { user, session } = await userSaying(newShell);
    for (const message of messages) {
      device.reply(session, message);
      await user.next();
    }
    await leave(user);
    expect((await device.nextOf('stop')).sid).toBe(session.sid);
  });

  it('does not affect the sessions of other users', async () => {
    const staying = await userSaying(newShell);
    const going = await userSaying(newShell);
    await leave(going.user);
    expect((await device.nextOf('stop')).sid).toBe(going.session.sid);
    device.reply(staying.session, { proto: shell, typ: 'shell', body: Buffer.from('$ ') });
    expect((await staying.user.next()).typ).toBe('shell');
    await settle();
    expect(device.waiting).toEqual([]);
  });
});

describe('users of a device that disconnects are closed with 1001', () => {
  it.each<[string, () => unknown]>([
    ['it closes', () => device.socket.close()],
    ['its connection is cut', () => device.socket.terminate()],
    ['it sends garbage', () => device.socket.send('garbage')],
    ['it connects again', () => connectPeer(server, identity)],
    [
      'it is decommissioned',
      () =>
        server.call('decommission-device', {
          token: server.adminToken,
          parameters: { id: identity.id },
        }),
    ],
    [
      'it is silent for 60 s',
      () => {
        device.socket.pause();
        server.clock.advance(limits.websocketIdleMaxSeconds * 1000);
      },
    ],
  ])('when it leaves because %s', async (_, go) => {
    const users = [await userSaying(newShell), await userSaying(ping)];
    const ends = users.map(({ user }) => endOf(user.socket));
    await go();
    for (const end of ends) {
      expect(await end).toEqual({ code: 1001, reason: 'device disconnected' });
    }
  });

  it('while users of other devices stay connected', async () => {
    const otherIdentity = await acceptedDevice(server, 'other');
    const otherPeer = await connectPeer(server, otherIdentity);
    const user = await connectUser(server, otherIdentity);
    const { user: lost } = await userSaying(ping);
    const ended = endOf(lost.socket);
    device.socket.terminate();
    await ended;
    user.say(ping);
    otherPeer.reply(await otherPeer.nextOf('ping'), { proto: control, typ: 'pong' });
    expect((await user.next()).typ).toBe('pong');
  });
});

describe('the shutdown of the server', () => {
  it('closes users and devices with 1001 and a reason for each', async () => {
    const { user } = await userSaying(newShell);
    const ends = [endOf(user.socket), endOf(device.socket)];
    await server.close();
    for (const end of ends) {
      expect(await end).toEqual({ code: 1001, reason: 'server shutting down' });
    }
  });
});

describe('a peer that stops reading', () => {
  it('is closed with 1008 if it is a user; all others stay connected', async () => {
    const slow = await userSaying(ping);
    const otherSession = await userSaying(ping);
    const ended = endOf(slow.user.socket);
    slow.user.socket.pause();
    const { bufferedMax, chunk } = flood;
    for (let sent = 0; sent < bufferedMax; sent += chunk.length) {
      device.reply(slow.session, { proto: shell, typ: 'shell', body: chunk });
    }
    await device.waitUntilReceived();
    slow.user.socket.resume();
    expect(await ended).toEqual({
      code: 1008,
      reason: `more than ${limits.userBacklogMaxBytes} bytes are unread`,
    });
    device.reply(otherSession.session, { proto: control, typ: 'pong' });
    expect((await otherSession.user.next()).typ).toBe('pong');
  });

  it('pauses its users without data loss if it is a device', async () => {
    const { user } = await userSaying(ping);
    device.socket.pause();
    const body = Buffer.alloc(8000);
    const messages = flood.bufferedMax / body.length;
    for (let count = 0; count < messages; count += 1) {
      body.writeUInt32BE(count);
      user.say({ proto: shell, typ: 'shell', body });
    }
    expect(await standstillOf(user)).toBeGreaterThan(flood.bufferedMax / 4);
    device.socket.resume();
    for (let count = 0; count < messages; count += 1) {
      const heard = Buffer.from((await device.next()).body ?? []);
      expect(heard.readUInt32BE()).toBe(count);
    }
  });
});

/** Returns the number of bytes queued at the user's end once it no longer decreases. */
async function standstillOf({ socket }: Peer): Promise<number> {
  let same = 0;
  for (let previousAmount = -1; same < 50; previousAmount = socket.bufferedAmount) {
    await presenceOf(server, identity);
    same = socket.bufferedAmount === previousAmount ? same + 1 : 0;
  }
  return socket.bufferedAmount;
}

/** This is more than the server and the system's connection buffers hold together. */
const flood = { bufferedMax: 48 * 1_048_576, chunk: Buffer.alloc(1_048_576) };

describe('the number of remote sessions', () => {
  async function ask(target: AcceptedDevice) {
    const headers = { Authorization: `Bearer ${server.adminToken}` };
    const { status, body } = await sendUpgrade(server, { path: userSocketPath(target), headers });
    return { status, error: status === 101 ? undefined : JSON.parse(body).error };
  }

  async function fill(target: AcceptedDevice): Promise<Peer[]> {
    const count = limits.connectSessionsPerDeviceMax;
    return Promise.all(Array.from({ length: count }, () => connectUser(server, target)));
  }

  it('is limited for each device, and an ended session frees its place', async () => {
    const [first] = await fill(identity);
    expect(await ask(identity)).toEqual({
      status: 429,
      error: 'the device has 32 open sessions; close one of them first',
    });
    const query = { path: '/etc/motd' };
    const parameters = { id: identity.id };
    const call = { token: server.adminToken, parameters, query };
    expect((await server.call('download-device-file', call)).status).toBe(429);
    if (first) await leave(first);
    expect((await ask(identity)).status).toBe(101);
  });

  it('is limited for all devices together', async () => {
    const devices = limits.userSocketsMax / limits.connectSessionsPerDeviceMax;
    for (let count = 0; count < devices; count += 1) {
      const full = await acceptedDevice(server, `full-${count}`);
      await connectPeer(server, full);
      await fill(full);
    }
    expect(await ask(identity)).toEqual({
      status: 429,
      error: 'users have 256 open WebSockets; close one of them first',
    });
  });
});

describe('the audit log of remote sessions', () => {
  /** Returns the device's entries since it was accepted, oldest first. */
  async function changes(): Promise<unknown[]> {
    const found = await entries(server, { object_id: identity.id, sort: 'asc' });
    return found
      .filter(({ action }) => action === 'update')
      .map(({ change, actor, time }) => [change, actor.email, time])
      .slice(1);
  }

  const at = '2026-11-21T12:00:05.000Z';

  it('records who opened and who closed a terminal', async () => {
    server.clock.advance(5000);
    const { user } = await userSaying(newShell);
    expect(await changes()).toEqual([['terminal opened', server.adminEmail, at]]);
    user.say({ proto: shell, typ: 'stop' });
    await device.next();
    await leave(user);
    expect(await changes()).toEqual([
      ['terminal opened', server.adminEmail, at],
      ['terminal closed', server.adminEmail, at],
    ]);
  });

  async function auditedChanges(): Promise<unknown[]> {
    return (await changes()).map((entry) => (entry as string[])[0]);
  }

  it('records that a terminal ended with its user or its device', async () => {
    server.clock.advance(5000);
    const { user } = await userSaying(newShell);
    await leave(user);
    await device.nextOf('stop');
    const { user: lost } = await userSaying(newShell);
    const ended = endOf(lost.socket);
    device.socket.terminate();
    await ended;
    expect(await auditedChanges()).toEqual([
      'terminal opened',
      'terminal closed',
      'terminal opened',
      'terminal closed',
    ]);
  });

  it('records a port forward once per session, with its destination', async () => {
    server.clock.advance(5000);
    const target = { remote_host: 'localhost', remote_port: 22, protocol: 'tcp' };
    const forward = { proto: portForward, typ: 'new', body: encodeBody(target) };
    const { user } = await userSaying(openSession, forward, forward);
    await leave(user);
    await device.nextOf('close');
    expect(await changes()).toEqual([
      ['port forward opened: tcp localhost:22', server.adminEmail, at],
      ['port forward closed', server.adminEmail, at],
    ]);
  });

  it('records a port forward with unreadable details too', async () => {
    await userSaying({ proto: portForward, typ: 'new', body: Buffer.from([0xc1]) });
    expect(await auditedChanges()).toEqual(['port forward opened']);
  });

  it('records nothing that the device never received', async () => {
    const user = await connectUser(server, identity);
    user.say({ ...newShell, body: Buffer.alloc(9000) });
    await user.nextOf('error');
    expect(await changes()).toEqual([]);
  });
});

describe('a malformed shell status from a device', () => {
  it('is relayed without harm to the server', async () => {
    const { user, session } = await userSaying(newShell);
    const status = { valueOf: 1, toString: 1 };
    device.reply(session, { proto: shell, typ: 'new', props: { status } });
    expect((await user.next()).props).toEqual({ status });
    await user.waitUntilReceived();
  });
});
