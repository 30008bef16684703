import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { operations } from '../../fixtures/contract/operations.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { connectPeer, connectUser, userSocketPath } from '../testing/test-peer.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { endOf, openSocket, presenceAs, sendUpgrade } from '../testing/test-sockets.ts';
import { control } from '../testing/test-tenants.ts';
import { check, hasFired, plan, ruleCounts } from './testing/planned.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeEach(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'd-1');
});

afterEach(() => server.close());

const match = { operation: 'connect' };

function shake() {
  return sendUpgrade(server, { headers: { Authorization: `Bearer ${device.token}` } });
}

/** Opens a socket without missing its first messages. */
function dial(): WebSocket {
  const url = server.baseUrl.replace('http', 'ws') + operations.connect.path;
  return new WebSocket(url, { headers: { Authorization: `Bearer ${device.token}` } });
}

async function next(socket: WebSocket): Promise<Buffer> {
  const [data] = (await once(socket, 'message')) as [Buffer];
  return data;
}

/** Resolves once the server has processed all data sent before. */
async function waitUntilReceived(socket: WebSocket): Promise<void> {
  const pong = once(socket, 'pong');
  socket.ping();
  await pong;
}

describe('a WebSocket handshake with a planned fault', () => {
  it('returns the planned status and an Error body', async () => {
    await plan(server, { match, act: { kind: 'refuse-socket', status: 403 } });
    const refused = await shake();
    expect([refused.status, JSON.parse(refused.body)]).toEqual([
      403,
      { error: expect.any(String), request_id: refused.headers['x-svc-requestid'] },
    ]);
    expect((await shake()).status).toBe(101);
  });

  it('returns the status of a gateway, is delayed, or is cut', async () => {
    await plan(server, { match, script: ['gateway-502', 'reset', { kind: 'delay', ms: 500 }] });
    expect((await shake()).status).toBe(502);
    await expect(shake()).rejects.toThrow();
    const waiting = shake();
    await hasFired(server, 3);
    server.clock.advance(500);
    expect(await waiting).toMatchObject({
      status: 101,
      headers: { 'x-svc-testbed-fault': 'fault' },
    });
  });

  it('returns the Accept of another key', async () => {
    await plan(server, { match, act: 'wrong-accept' });
    const [error] = await once(dial(), 'error');
    expect(String(error)).toContain('Sec-WebSocket-Accept');
    expect((await shake()).status).toBe(101);
  });

  it('does not match when the request is not a handshake', async () => {
    await plan(server, { match, act: 'refuse-socket' });
    const headers = { Authorization: `Bearer ${device.token}`, Upgrade: null, Connection: null };
    expect((await sendUpgrade(server, { headers })).status).toBe(400);
    expect(await ruleCounts(server)).toMatchObject({ matched: 0 });
  });

  it('leaves the fault due when the server itself refuses', async () => {
    await plan(server, { match, act: { kind: 'close-socket', code: 1012 } });
    const headers = { Authorization: `Bearer ${device.token}`, 'Sec-WebSocket-Version': '12' };
    expect((await sendUpgrade(server, { headers })).status).toBe(400);
    expect(await ruleCounts(server)).toMatchObject({ fired: 0, left: 1 });
  });

  it('is not answered by the fault once it is accepted, and the fault stays due', async () => {
    await plan(server, { match, when: 'after', act: 'gateway-502' });
    expect((await shake()).status).toBe(101);
    expect(await ruleCounts(server)).toMatchObject({ fired: 0, left: 1 });
  });

  it('names the rule in its response', async () => {
    await plan(server, { match, act: 'ignore-pings' });
    expect((await shake()).headers['x-svc-testbed-fault']).toBe('fault');
  });
});

describe('an open WebSocket with a planned fault', () => {
  it.each([1000, 1001, 1008, 1011, 1013, 3000, 4999])(
    'is closed with the code %i',
    async (code) => {
      await plan(server, {
        match,
        act: { kind: 'close-socket', code, reason: 'so it was planned' },
      });
      expect(await endOf(dial())).toEqual({ code, reason: 'so it was planned' });
    },
  );

  it.each([0, 999, 1005, 1006, 5000])(
    'is closed with the invalid or reserved close code %i',
    async (code) => {
      await plan(server, { match, act: { kind: 'close-socket', code } });
      const socket = dial();
      const [error] = (await once(socket, 'error')) as [Error];
      expect(error.message).toContain(`invalid status code ${code}`);
    },
  );

  it('is closed after a number of messages from its client', async () => {
    await plan(server, { match, act: { kind: 'close-socket', code: 1012, afterMessages: 2 } });
    const peer = await connectPeer(server, device);
    peer.say({ proto: 1, typ: 'first' });
    await waitUntilReceived(peer.socket);
    expect(await ruleCounts(server)).toMatchObject({ fired: 0 });
    const end = endOf(peer.socket);
    peer.say({ proto: 1, typ: 'second' });
    expect(await end).toMatchObject({ code: 1012 });
    expect(await ruleCounts(server)).toMatchObject({ fired: 1, left: 0 });
  });

  it("is closed after a time on the tenant's clock", async () => {
    await plan(server, { match, act: { kind: 'close-socket', code: 1001, afterMs: 5000 } });
    const socket = await openSocket(server, device);
    server.clock.advance(4999);
    await waitUntilReceived(socket);
    const end = endOf(socket);
    server.clock.advance(1);
    expect(await end).toMatchObject({ code: 1001 });
  });

  it('leaves the fault due when it ends first, and ends a cleared rule', async () => {
    await plan(server, { match, act: { kind: 'close-socket', code: 1001, afterMs: 5000 } });
    const socket = await openSocket(server, device);
    socket.close();
    await endOf(socket);
    expect(await check(server)).toMatchObject({ status: 409 });
    expect(await ruleCounts(server)).toMatchObject({ fired: 0, left: 1 });
    const otherSocket = await openSocket(server, device);
    await control(server, 'DELETE', '/faults');
    server.clock.advance(5000);
    await waitUntilReceived(otherSocket);
    expect(otherSocket.readyState).toBe(WebSocket.OPEN);
  });

  it('is cut without a close frame', async () => {
    await plan(server, { match, act: { kind: 'cut-socket', afterMessages: 1 } });
    const peer = await connectPeer(server, device);
    peer.socket.on('error', () => undefined);
    const end = endOf(peer.socket);
    peer.say({ proto: 1, typ: 'any' });
    expect((await end).code).toBe(1006);
    await presenceAs(server, device, 'disconnected');
  });

  it('sends no pongs and no pings, but relays messages', async () => {
    await plan(server, { match, act: 'ignore-pings' });
    const peer = await connectPeer(server, device);
    const heard: string[] = [];
    for (const event of ['ping', 'pong']) peer.socket.on(event, () => heard.push(event));
    peer.socket.ping();
    server.clock.advance(600_000);
    const parameters = { id: device.id };
    await server.call('check-device-update', { token: server.adminToken, parameters });
    expect((await peer.next()).typ).toBe('check-update');
    expect(heard).toEqual([]);
    expect(peer.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('can be half open, without reads and writes, for a limited time', async () => {
    await plan(server, { match, act: { kind: 'half-open', maxSeconds: 120 } });
    const peer = await connectPeer(server, device);
    const heard: string[] = [];
    for (const event of ['message', 'ping', 'pong', 'close']) {
      peer.socket.on(event, () => heard.push(event));
    }
    peer.socket.ping();
    server.clock.advance(119_999);
    const parameters = { id: device.id };
    const response = await server.call('check-device-update', {
      token: server.adminToken,
      parameters,
    });
    expect([response.status, heard]).toEqual([202, []]);
    peer.socket.on('error', () => undefined);
    const end = endOf(peer.socket);
    server.clock.advance(1);
    expect((await end).code).toBe(1006);
  });

  it('delays neither shutdown nor the clearing of its rule while it is half open', async () => {
    await plan(server, { match, times: 'until-cleared', act: 'half-open' });
    const first = await openSocket(server, device);
    const end = endOf(first);
    await control(server, 'DELETE', '/faults');
    expect((await end).code).toBe(1006);
    await plan(server, { match, act: 'half-open' });
    const second = await openSocket(server, device);
    const closed = endOf(second);
    await server.close();
    expect((await closed).code).toBe(1006);
    server = await startTestServer();
  });

  it('receives a message larger than devices read', async () => {
    await plan(server, { match, act: { kind: 'oversize-message', bytes: 10_000 } });
    expect((await next(dial())).length).toBeGreaterThan(10_000);
  });

  it('receives a message twice', async () => {
    await plan(server, { match, act: 'duplicate-message' });
    const peer = await connectPeer(server, device);
    expect(await ruleCounts(server)).toMatchObject({ fired: 0 });
    const parameters = { id: device.id };
    const call = { token: server.adminToken, parameters };
    await server.call('check-device-update', call);
    expect(await peer.next()).toEqual(await peer.next());
    await server.call('send-device-inventory', call);
    expect((await peer.next()).typ).toBe('send-inventory');
    await waitUntilReceived(peer.socket);
    expect(peer.waiting).toEqual([]);
    expect(await ruleCounts(server)).toMatchObject({ fired: 1 });
  });

  it('receives a message that is not an envelope', async () => {
    await plan(server, { match, act: { kind: 'garbage', bytes: 9 } });
    expect(await next(dial())).toEqual(Buffer.alloc(9, 0xc1));
  });

  it('receives bytes that are not a frame', async () => {
    await plan(server, { match, act: { kind: 'garbage', as: 'frame' } });
    const [error] = (await once(dial(), 'error')) as [Error];
    expect(error.message).toMatch(/Invalid WebSocket frame/);
  });

  it('matches faults like the socket of a device if it is that of a user', async () => {
    await connectPeer(server, device);
    const ofUsers = { operation: 'connect-device' };
    await plan(server, {
      match: ofUsers,
      script: ['refuse-socket', { kind: 'close-socket', code: 4000 }],
    });
    const headers = { Authorization: `Bearer ${server.adminToken}` };
    const path = userSocketPath(device);
    expect((await sendUpgrade(server, { path, headers })).status).toBe(503);
    const user = await connectUser(server, device);
    expect((await endOf(user.socket)).code).toBe(4000);
  });
});
