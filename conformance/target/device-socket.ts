/** A websocket that a device of the suite holds open. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { ExpectationFailure } from '../expectations.ts';
import type { Headers } from './exchange.ts';

/** An open websocket. Its owner closes it. */
export interface DeviceSocket {
  /** Sends a ping and gives the data of the pong. */
  ping(data: Buffer): Promise<Buffer>;
  /** Closes in an orderly way, and resolves when the other side has closed too. */
  close(): Promise<void>;
  isClosed(): boolean;
  /** Ends the connection at once. */
  destroy(): void;
}

export interface DeviceSocketOptions {
  readonly url: string;
  readonly headers: Headers;
  /** Bounds the handshake. */
  readonly signal: AbortSignal;
  /** Bounds whatever is waited for on the open socket. */
  readonly lifeSignal: AbortSignal | undefined;
  readonly caPem?: string | undefined;
}

/** Opens a websocket. Throws an ExpectationFailure when the server refuses the upgrade. */
export async function openDeviceSocket(options: DeviceSocketOptions): Promise<DeviceSocket> {
  const { url, headers, signal, caPem } = options;
  const socket = new WebSocket(url.replace(/^http/, 'ws'), {
    headers: { ...headers },
    perMessageDeflate: false,
    ...(caPem === undefined ? {} : { ca: caPem }),
  });
  socket.on('unexpected-response', (_, { statusCode }) => {
    const refusal = new ExpectationFailure('an open websocket', `status ${statusCode}`);
    socket.emit('error', refusal);
  });
  try {
    await once(socket, 'open', { signal });
  } catch (error) {
    // Ending a handshake makes ws report one more error, which says nothing new.
    socket.on('error', () => undefined);
    socket.terminate();
    throw error;
  }
  // From here on a broken connection shows as closed, which is what cases look at.
  socket.on('error', () => socket.terminate());
  return openSocketOf(socket, options.lifeSignal);
}

function openSocketOf(socket: WebSocket, signal: AbortSignal | undefined): DeviceSocket {
  const bound = signal === undefined ? {} : { signal };
  return {
    ping: async (data) => {
      const pong = once(socket, 'pong', bound);
      socket.ping(data);
      const [answer] = await pong;
      return answer;
    },
    close: async () => {
      const closed = once(socket, 'close', bound);
      socket.close(1000);
      await closed;
    },
    isClosed: () => socket.readyState === WebSocket.CLOSED,
    destroy: () => socket.terminate(),
  };
}
