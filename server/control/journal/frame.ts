/** One websocket frame as the journal keeps it, and how the frames of a socket get there. */
import type { WebSocket } from 'ws';
import {
  type ConnectMessage,
  ConnectMessageError,
  decodeConnectMessage,
} from '../../../fixtures/formats/connect-message.ts';
import type { EntryFields } from './entry.ts';
import type { Journal } from './journal.ts';
import { BODY_KEPT_BYTES, keptBytes } from './kept-bytes.ts';

const RECORD_BYTES = 384;

type Opcode = 'message' | 'ping' | 'pong' | 'close';

/** A socket: whose it is, and the handshake that it began with. */
export interface FrameOrigin {
  readonly socket: 'device' | 'user';
  readonly requestId: string;
  readonly deviceId: string;
  /** Of a user's socket. */
  readonly userId?: string;
}

/** What a frame was; bytes are those of its payload. */
interface FrameFacts {
  readonly from: 'client' | 'server';
  readonly opcode: Opcode;
  readonly payload: Buffer;
  /** Of a close: its code, 1006 when the connection ended without one. */
  readonly code?: number;
}

/** A frame of either direction. */
export class FrameRecord implements EntryFields {
  readonly kind = 'frame';
  sequence = 0;
  countedBytes = 0;
  readonly atMs: number;
  readonly origin: FrameOrigin;
  readonly from: FrameFacts['from'];
  readonly opcode: Opcode;
  readonly code: number | undefined;
  /** Length of the whole payload. */
  readonly bytes: number;
  /** At most the first `BODY_KEPT_BYTES`. */
  readonly payload: Buffer;
  /** Of a message that is cut, whose envelope could not be read from the kept bytes any more. */
  readonly #envelope: Omit<ConnectMessage, 'body'> | undefined;

  constructor(atMs: number, origin: FrameOrigin, facts: FrameFacts) {
    const { from, opcode, payload, code } = facts;
    this.atMs = atMs;
    this.origin = origin;
    this.from = from;
    this.opcode = opcode;
    this.code = code;
    this.bytes = payload.length;
    const isCut = payload.length > BODY_KEPT_BYTES;
    // A small frame may be a part of a large piece that was read at once: it must not hold that.
    this.payload = isCut ? keptBytes(payload) : Buffer.from(payload);
    this.#envelope = isCut ? envelopeOf(payload) : undefined;
  }

  /** The envelope that the payload holds, with the body where it is not cut; nothing when it is none. */
  get message(): ConnectMessage | undefined {
    if (this.opcode !== 'message') return undefined;
    return this.bytes > this.payload.length ? this.#envelope : messageIn(this.payload);
  }

  get sizeBytes(): number {
    return RECORD_BYTES + this.payload.length;
  }

  settle(): void {
    // Its bounds are kept when it is made.
  }
}

/** The message that a payload holds; nothing when it is none. */
function messageIn(payload: Buffer): ConnectMessage | undefined {
  try {
    return decodeConnectMessage(payload);
  } catch (fault) {
    if (fault instanceof ConnectMessageError) return undefined;
    throw fault;
  }
}

function envelopeOf(payload: Buffer): Omit<ConnectMessage, 'body'> | undefined {
  const { body: _, ...envelope } = messageIn(payload) ?? {};
  return 'proto' in envelope ? envelope : undefined;
}

/** Puts every frame of the socket, of both directions, into the journal from now on. */
export function recordFrames(
  socket: WebSocket,
  { journal, clock }: { journal: Journal; clock: { now(): number } },
  origin: FrameOrigin,
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
  let closer: FrameFacts['from'] = 'client';
  socket.on('message', (data) => file('client', 'message', bytesOf(data)));
  socket.on('ping', (data) => file('client', 'ping', data));
  socket.on('pong', (data) => file('client', 'pong', data));
  socket.on('close', (code, reason) => file(closer, 'close', reason, code));
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
    // The library answers a close of the client by this too, with the reason in bytes or none.
    if (typeof how[1] === 'string') closer = 'server';
    Reflect.apply(close, socket, how);
  };
}

function bytesOf(data: unknown): Buffer {
  if (Buffer.isBuffer(data)) return data;
  if (data instanceof Uint8Array) return Buffer.from(data.buffer, data.byteOffset, data.length);
  return typeof data === 'string' ? Buffer.from(data) : Buffer.alloc(0);
}
