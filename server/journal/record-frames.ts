/** How the frames of a websocket get into a journal. */
import type { WebSocket } from 'ws';
import type { SocketOrigin } from '../connect/socket-observer.ts';
import { type FrameFacts, FrameRecord, type Opcode } from './frame.ts';
import type { Journal } from './journal.ts';

/** Puts every frame of the socket, of both directions, into the journal from now on. */
export function recordFrames(
  socket: WebSocket,
  { journal, clock }: { journal: Journal; clock: { now(): number } },
  origin: SocketOrigin,
): void {
  if (journal.isOff) return;
  const file = (from: FrameFacts['from'], opcode: Opcode, payload: Buffer, code?: number): void =>
    journal.add(
      new FrameRecord(clock.now(), origin, {
        from,
        opcode,
        payload,
        ...(code !== undefined && { code }),
      }),
    );
  /** What the server closed with: the code of the connection is 1006 where the client never answers. */
  let own: { readonly code: number; reason: Buffer } | undefined;
  socket.on('message', (data) => file('client', 'message', bytesOf(data)));
  socket.on('ping', (data) => file('client', 'ping', data));
  socket.on('pong', (data) => file('client', 'pong', data));
  // The library closes on its own where it cannot read a frame, and says why only here.
  socket.on('error', ({ message }) => {
    if (own?.reason.length === 0) own.reason = Buffer.from(message);
  });
  socket.on('close', (code, reason) => {
    if (own) file('server', 'close', own.reason, own.code);
    else file('client', 'close', reason, code);
  });
  const { send, ping, close } = socket;
  socket.send = (data: unknown, ...rest: unknown[]) => {
    file('server', 'message', bytesOf(data));
    Reflect.apply(send, socket, [data, ...rest]);
  };
  socket.ping = (data: unknown, ...rest: unknown[]) => {
    file('server', 'ping', bytesOf(data));
    Reflect.apply(ping, socket, [data, ...rest]);
  };
  socket.close = (...how) => {
    const [code, reason = ''] = how;
    // The library answers a close of the client by this too, with the reason in bytes, or no code.
    if (code !== undefined && typeof reason === 'string' && socket.readyState === socket.OPEN) {
      own = { code, reason: Buffer.from(reason) };
    }
    Reflect.apply(close, socket, how);
  };
}

function bytesOf(data: unknown): Buffer {
  if (Buffer.isBuffer(data)) return data;
  if (data instanceof Uint8Array) return Buffer.from(data.buffer, data.byteOffset, data.length);
  return typeof data === 'string' ? Buffer.from(data) : Buffer.alloc(0);
}
