/** A WebSocket frame as the journal stores it. */
import {
  type ConnectMessage,
  ConnectMessageError,
} from '../../fixtures/formats/connect-message.ts';
import { messageIn, noMessage, withoutEffect } from '../connect/received-message.ts';
import type { SocketOrigin } from '../connect/socket-observer.ts';
import { BODY_KEPT_BYTES, keptBytes } from '../http/exchange-record.ts';
import type { EntryFields } from './entry-fields.ts';

const RECORD_BYTES = 384;

export type Opcode = 'message' | 'ping' | 'pong' | 'close';

/** The facts about a frame. */
export interface FrameFacts {
  readonly from: 'client' | 'server';
  readonly opcode: Opcode;
  readonly payload: Buffer;
  /** True for a message in a text frame. */
  readonly isText?: boolean;
  /** The code of a close frame; 1006 if the connection ended without one. */
  readonly code?: number;
}

/** A frame in either direction. */
export class FrameRecord implements EntryFields {
  readonly kind = 'frame';
  sequence = 0;
  countedBytes = 0;
  readonly atMs: number;
  readonly origin: SocketOrigin;
  readonly from: FrameFacts['from'];
  readonly opcode: Opcode;
  readonly code: number | undefined;
  readonly isText: boolean;
  /** Length of the whole payload. */
  readonly bytes: number;
  /** The payload, at most its first `BODY_KEPT_BYTES` bytes. */
  readonly payload: Buffer;
  /** The envelope of a truncated message, which cannot be parsed from the stored bytes. */
  readonly #envelope: Omit<ConnectMessage, 'body'> | undefined;

  constructor(atMs: number, origin: SocketOrigin, facts: FrameFacts) {
    const { from, opcode, payload, code, isText = false } = facts;
    this.atMs = atMs;
    this.origin = origin;
    this.from = from;
    this.opcode = opcode;
    this.code = code;
    this.isText = isText;
    this.bytes = payload.length;
    const isTruncated = payload.length > BODY_KEPT_BYTES;
    // A copy, because the payload may be a view into a large buffer, which would otherwise stay in
    // memory.
    this.payload = isTruncated ? keptBytes(payload) : Buffer.from(payload);
    this.#envelope = isTruncated ? envelopeOf(payload) : undefined;
  }

  /**
   * The message in the payload, without its body if it was truncated; undefined for any other
   * payload.
   */
  get message(): ConnectMessage | undefined {
    if (this.opcode !== 'message') return undefined;
    return this.bytes > this.payload.length ? this.#envelope : messageOf(this.payload);
  }

  /**
   * The violation by a message of the client; undefined for any other frame, and for a truncated
   * message.
   */
  get problem(): string | undefined {
    const { opcode, from, payload: bytes, isText, origin } = this;
    if (opcode !== 'message' || from === 'server' || this.bytes > bytes.length) return undefined;
    const message = messageIn(bytes);
    if (message instanceof ConnectMessageError) {
      return noMessage(message, { bytes, isBinary: !isText }).reason;
    }
    return withoutEffect(message, origin.socket);
  }

  get sizeBytes(): number {
    return RECORD_BYTES + this.payload.length;
  }

  settle(): void {
    // The constructor has already applied the limits.
  }
}

/** Returns the message in a payload; undefined for any other payload. */
function messageOf(payload: Buffer): ConnectMessage | undefined {
  const message = messageIn(payload);
  return message instanceof ConnectMessageError ? undefined : message;
}

function envelopeOf(payload: Buffer): Omit<ConnectMessage, 'body'> | undefined {
  const { body: _, ...envelope } = messageOf(payload) ?? {};
  return 'proto' in envelope ? envelope : undefined;
}
