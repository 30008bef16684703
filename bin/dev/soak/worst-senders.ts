/** Sends the worst inputs, and waits until the server has finished with them. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { FuzzTarget } from './fuzz-target.ts';

const DONE_WITHIN_MS = 60_000;

/**
 * Sends the bytes on `times` connections at once. Resolves when the server has closed all of them.
 */
export async function sendRequests(url: string, bytes: Buffer, times: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const sending = Array.from({ length: times }, () => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(bytes);
    return waitForClose(socket);
  });
  await Promise.all(sending);
}

/**
 * Resolves when the server has closed the connection. The responses are discarded, because only the
 * prober's figures count.
 */
function waitForClose(socket: ReturnType<typeof connect>): Promise<void> {
  return new Promise((resolve) => {
    const timer = systemClock.after(DONE_WITHIN_MS, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => {
      timer.cancel();
      resolve();
    });
    socket.resume();
  });
}

interface RepeatedMessage {
  readonly message: Buffer;
  readonly times: number;
}

/**
 * Returns a function that opens a WebSocket as a device, or as a user of that device, and sends the
 * same message repeatedly until the server has read all of them or closes the socket.
 */
export function sendMessages(from: 'device' | 'user', { message, times }: RepeatedMessage) {
  return async ({ ready, insider }: FuzzTarget) => {
    const base = ready.baseUrl.replace('http', 'ws');
    const [id = ''] = insider.ids;
    const open = {
      device: () => openSocket(base + pathOf(operations.connect), insider.deviceToken),
      user: () =>
        openSocket(
          base + pathOf(managementOperations['connect-device'], { id }),
          insider.userToken,
        ),
    };
    return async (): Promise<void> => {
      const device = await open.device();
      const socket = from === 'device' ? device : await open.user();
      const end = Promise.race([once(socket, 'close'), once(socket, 'pong')]);
      for (let sentCount = 0; sentCount < times; sentCount += 1) socket.send(message);
      socket.ping();
      await end;
      socket.terminate();
      device.terminate();
    };
  };
}

async function openSocket(url: string, token: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${token}` } });
  await once(socket, 'open');
  // The server closes the socket when it refuses a message.
  socket.on('error', () => undefined);
  return socket;
}
