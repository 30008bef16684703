/** Records the frames of a WebSocket in a journal. */
import type { WebSocket } from 'ws';
import type { SocketOrigin } from '../connect/socket-observer.ts';
import { type FrameFacts, FrameRecord, type Opcode } from './frame.ts';
import type { Journal } from './journal.ts';

/** The code of RFC 6455, section 7.4.1, for a connection that ended without a close frame. */
const WITHOUT_CLOSE_FRAME = 1006;
const cutBy = (side: 'client' | 'server'): Buffer =>
  Buffer.from(`the ${side} ended the connection without a close frame`);

/** Adds every later frame of the socket, in both directions, to the journal. */
export function recordFrames(
  socket: WebSocket,
  { journal, clock }: { journal: Journal; clock: { now(): number } },
  origin: SocketOrigin,
): void {
  if (journal.isOff) return;
  const file = (
    from: FrameFacts['from'],
    opcode: Opcode,
    payload: Buffer,
    more: Pick<FrameFacts, 'code' | 'isText'> = {},
  ): void => journal.add(new FrameRecord(clock.now(), origin, { from, opcode, payload, ...more }));
  /**
   * True once the server began to close. The code of the connection would be 1006 if the client
   * never answers.
   */
  let isClosed = false;
  const closes = (code: number, reason: Buffer): void => {
    isClosed = true;
    file('server', 'close', reason, { code });
  };
  socket.on('message', (data, isBinary) =>
    file('client', 'message', bytesOf(data), { isText: !isBinary }),
  );
  socket.on('ping', (data) => file('client', 'ping', data));
  socket.on('pong', (data) => file('client', 'pong', data));
  socket.on('close', (code, reason) => {
    const isCut = code === WITHOUT_CLOSE_FRAME && reason.length === 0;
    if (!isClosed) file('client', 'close', isCut ? cutBy('client') : reason, { code });
  });
  const { send, ping, close, terminate } = socket;
  socket.send = (data: unknown, ...furtherArguments: unknown[]) => {
    file('server', 'message', bytesOf(data));
    Reflect.apply(send, socket, [data, ...furtherArguments]);
  };
  socket.ping = (data: unknown, ...furtherArguments: unknown[]) => {
    file('server', 'ping', bytesOf(data));
    Reflect.apply(ping, socket, [data, ...furtherArguments]);
  };
  socket.close = (...how) => {
    const [code, reason = ''] = how;
    // The library also calls this to answer a close by the client, with the reason as bytes or
    // without a code.
    if (code !== undefined && typeof reason === 'string' && socket.readyState === socket.OPEN) {
      closes(code, Buffer.from(reason));
    }
    Reflect.apply(close, socket, how);
  };
  socket.terminate = () => {
    if (socket.readyState === socket.OPEN) closes(WITHOUT_CLOSE_FRAME, cutBy('server'));
    Reflect.apply(terminate, socket, []);
  };
}

function bytesOf(data: unknown): Buffer {
  if (Buffer.isBuffer(data)) return data;
  if (data instanceof Uint8Array) return Buffer.from(data.buffer, data.byteOffset, data.length);
  return typeof data === 'string' ? Buffer.from(data) : Buffer.alloc(0);
}
