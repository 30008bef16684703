/** Records the frames of a websocket in a journal. */
import type { WebSocket } from 'ws';
import type { SocketOrigin } from '../connect/socket-observer.ts';
import { type FrameFacts, FrameRecord, type Opcode } from './frame.ts';
import type { Journal } from './journal.ts';

/** Adds every later frame of the socket, in both directions, to the journal. */
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
  /**
   * The server's own close code and reason. The connection's code would be 1006 if the client never
   * answers.
   */
  let own: { readonly code: number; reason: Buffer } | undefined;
  socket.on('message', (data) => file('client', 'message', bytesOf(data)));
  socket.on('ping', (data) => file('client', 'ping', data));
  socket.on('pong', (data) => file('client', 'pong', data));
  // If the library closes because it cannot read a frame, only the error event contains the reason.
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
    // The library also calls this to answer a close by the client, with the reason as bytes or
    // without a code.
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
