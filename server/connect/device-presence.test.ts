import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { startOfTest, startTestServer, type TestServer } from '../testing/test-server.ts';
import { endOf, openSocket, presenceAs, presenceOf } from '../testing/test-sockets.ts';

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

describe('the presence of a device', () => {
  it('is disconnected before the first connection', async () => {
    expect(await presenceOf(server, device)).toEqual({
      device_id: device.id,
      status: 'disconnected',
      created_ts: timeAt(0),
      updated_ts: timeAt(0),
    });
  });

  it('is connected from the handshake until the socket ends, and contains both times', async () => {
    server.clock.advance(1000);
    const socket = await openSocket(server, device);
    expect(await presenceOf(server, device)).toEqual({
      device_id: device.id,
      status: 'connected',
      created_ts: timeAt(1),
      updated_ts: timeAt(1),
    });
    server.clock.advance(1000);
    socket.close(1000);
    expect(await endOf(socket)).toEqual({ code: 1000, reason: '' });
    expect(await presenceAs(server, device, 'disconnected')).toMatchObject({
      created_ts: timeAt(1),
      updated_ts: timeAt(2),
    });
  });

  it.each(['terminate', 'close'] as const)('ends when the device leaves by %s', async (how) => {
    const socket = await openSocket(server, device);
    socket[how]();
    expect((await presenceAs(server, device, 'disconnected')).status).toBe('disconnected');
  });

  it('does not change when another device disconnects', async () => {
    const otherDevice = await acceptedDevice(server, 'other');
    const sockets = [await openSocket(server, device), await openSocket(server, otherDevice)];
    sockets[0]?.terminate();
    await presenceAs(server, device, 'disconnected');
    expect((await presenceOf(server, otherDevice)).status).toBe('connected');
  });
});

describe('a second socket of a device', () => {
  it('replaces the first without a close frame, and presence stays connected', async () => {
    const first = await openSocket(server, device);
    const ended = endOf(first);
    server.clock.advance(1000);
    const second = await openSocket(server, device);
    expect(await ended).toEqual({ code: 1006, reason: '' });
    await settle();
    expect(await presenceOf(server, device)).toMatchObject({
      status: 'connected',
      updated_ts: timeAt(1),
    });
    second.ping('still here');
    expect(String((await once(second, 'pong'))[0])).toBe('still here');
  });

  it('decides alone when the device counts as disconnected', async () => {
    const first = await openSocket(server, device);
    const ended = endOf(first);
    const second = await openSocket(server, device);
    await ended;
    second.terminate();
    expect((await presenceAs(server, device, 'disconnected')).status).toBe('disconnected');
  });

  it('replaces all others when ten sockets connect at once', async () => {
    const sockets = await Promise.all(Array.from({ length: 10 }, () => openSocket(server, device)));
    await settle();
    expect(sockets.filter(({ readyState }) => readyState === 1)).toHaveLength(1);
    expect((await presenceOf(server, device)).status).toBe('connected');
  });
});
