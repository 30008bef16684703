/**
 * How a peer of a WebSocket breaks RFC 6455 or the message format, with the close code and the
 * reason that it is told.
 */
import type { WebSocket } from 'ws';
import { limits } from '../../fixtures/contract/limits.ts';
import { closeCodes, closeWith } from './closing.ts';

/** A broken rule of the connection. */
export interface Violation {
  /** Close code of RFC 6455, section 7.4.1; 0 when the socket stays open. */
  readonly code: number;
  /** The violation and its remedy, as a sentence; the close frame holds its first 123 bytes. */
  readonly reason: string;
}

const violated = 'violated';

/** Closes the socket for a violation, and notifies those that called `watchViolations`. */
export function closeFor(socket: WebSocket, violation: Violation): void {
  // A socket that is closing already has its reason.
  if (socket.readyState !== socket.OPEN) return;
  socket.emit(violated, violation);
  closeWith(socket, violation.code, violation.reason);
}

/** Notifies those that called `watchViolations` of a message that has no effect. */
export function reportIgnoredMessage(socket: WebSocket, reason: string): void {
  socket.emit(violated, { code: 0, reason } satisfies Violation);
}

/** Calls `notify` for the violation that closes the socket, and for remarks. */
export function watchViolations(socket: WebSocket, notify: (violation: Violation) => void): void {
  socket.on(violated, notify);
}

/** A private member of the library's WebSocket that its types lack. */
interface Receiving {
  readonly _receiver: {
    prependListener(event: 'error', callback: (error: FrameError) => void): void;
    /** Opcode of the current frame. */
    readonly _opcode: number;
    /** Bytes of the message that the frames read so far announce. */
    readonly _totalPayloadLength: number;
  };
}

type FrameError = Error & { readonly code?: string };

/**
 * Closes the socket with a reason when a frame cannot be read. The library alone would close it
 * without one.
 */
export function refuseBadFrames(socket: WebSocket): void {
  const { _receiver: receiver } = socket as unknown as Receiving;
  // The library's own listener follows, and finds the socket closing.
  receiver.prependListener('error', ({ code = '', message }) => {
    const { _opcode: opcode, _totalPayloadLength: bytes } = receiver;
    const row = rows[code];
    closeFor(socket, row?.({ opcode, message, bytes }) ?? protocolViolation(message));
  });
}

const CLOSE = 8;
const CONTINUATION = 0;
const DATA_OPCODES_MAX = 2;
const messageMax = limits.websocketMessageMaxBytes;

/** The frame that cannot be read. */
interface BadFrame {
  /** Opcode of the frame, or of the one before if its first two bytes were refused. */
  readonly opcode: number;
  readonly message: string;
  /** Bytes that the message has by the headers of its frames. */
  readonly bytes: number;
}

/** Violations by the library's error code. */
const rows: Readonly<Record<string, (frame: BadFrame) => Violation>> = {
  WS_ERR_EXPECTED_MASK: () =>
    protocolViolation('a frame is not masked; a client masks every frame'),
  WS_ERR_UNEXPECTED_RSV_1: () =>
    protocolViolation(
      'the reserved bit RSV1 is set; no extension was negotiated, so send frames uncompressed',
    ),
  WS_ERR_UNEXPECTED_RSV_2_3: () =>
    protocolViolation(
      'the reserved bit RSV2 or RSV3 is set; clear both, as no extension was negotiated',
    ),
  WS_ERR_INVALID_OPCODE: ({ message }) =>
    protocolViolation(opcodeReason(Number(lastWord(message)))),
  WS_ERR_EXPECTED_FIN: () =>
    protocolViolation('a ping, pong or close frame is fragmented; send it as one frame with FIN'),
  WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH: ({ message }) =>
    protocolViolation(
      message.endsWith(' 1')
        ? 'a close frame has one byte; send a code of two bytes, or nothing'
        : 'a ping, pong or close frame is too long; it has at most 125 bytes',
    ),
  WS_ERR_INVALID_CLOSE_CODE: ({ message }) =>
    protocolViolation(`the close code ${lastWord(message)} is not allowed in a frame; send 1000`),
  WS_ERR_INVALID_UTF8: ({ opcode }) => ({
    code: closeCodes.invalidPayload,
    reason:
      opcode === CLOSE
        ? 'the reason of the close frame is not UTF-8'
        : 'a text frame is not UTF-8; send msgpack in binary frames (opcode 2)',
  }),
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: ({ bytes }) => ({
    code: closeCodes.tooLarge,
    reason: `a message has at most ${messageMax} bytes, and this one announces ${bytes}; send a smaller one`,
  }),
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: () => ({
    code: closeCodes.tooLarge,
    reason:
      'a frame announces more than 2^53 bytes; write its length in network byte order, highest byte first',
  }),
  WS_ERR_TOO_MANY_BUFFERED_PARTS: () => ({
    code: closeCodes.policyViolation,
    reason: 'a message has too many fragments; send it in fewer',
  }),
};

/** Returns the value at the end of a message of the WebSocket library. */
function lastWord(message: string): string {
  return message.slice(message.lastIndexOf(' ') + 1);
}

function protocolViolation(reason: string): Violation {
  return { code: closeCodes.protocolError, reason };
}

function opcodeReason(opcode: number): string {
  if (opcode === CONTINUATION) {
    return 'a continuation frame (opcode 0) continues no message; begin one with opcode 2';
  }
  return opcode <= DATA_OPCODES_MAX
    ? `a frame with opcode ${opcode} stands within a message; continue it with opcode 0`
    : `the opcode ${opcode} is reserved; send messages with opcode 2 (binary)`;
}
