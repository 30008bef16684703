/** Decodes received messages. Each message is decoded once, although several readers need it. */
import {
  type ConnectMessage,
  ConnectMessageError,
  connectProtocols,
  decodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import { closeCodes } from './closing.ts';
import type { SocketOrigin } from './socket-observer.ts';
import type { Violation } from './violations.ts';

/** Bytes that show whether a message is JSON. */
const START_BYTES = 8;

/** Decoded messages by their bytes; an entry lives as long as its bytes are referenced. */
const decoded = new WeakMap<Uint8Array, ConnectMessage | ConnectMessageError>();

/**
 * Returns the decoded message, or the reason why the bytes are not a message. The caller must not
 * change the bytes.
 */
export function messageIn(bytes: Uint8Array): ConnectMessage | ConnectMessageError {
  const cachedMessage = decoded.get(bytes);
  if (cachedMessage) return cachedMessage;
  const message = attempt(bytes);
  decoded.set(bytes, message);
  return message;
}

function attempt(bytes: Uint8Array): ConnectMessage | ConnectMessageError {
  try {
    return decodeConnectMessage(bytes);
  } catch (error) {
    if (error instanceof ConnectMessageError) return error;
    throw error;
  }
}

/**
 * Returns why a frame is not a message. For a text frame, as a client that sends JSON produces, the
 * frame type is the reason.
 */
export function noMessage(
  { message }: ConnectMessageError,
  { bytes, isBinary }: { readonly bytes: Buffer; readonly isBinary: boolean },
): Violation {
  if (!isBinary) {
    return {
      code: closeCodes.unsupportedData,
      reason: 'a text frame: send a binary frame (opcode 2) with a msgpack message',
    };
  }
  // Devices and servers of the field close with this code.
  const code = closeCodes.internalError;
  return /^\s*[[{]/.test(bytes.toString('latin1', 0, START_BYTES))
    ? { code, reason: 'the binary frame holds JSON: send a msgpack message' }
    : { code, reason: message };
}

const names = Object.entries(connectProtocols).map(([name, number]) => `${number} (${name})`);
const numbers = new Set<number>(Object.values(connectProtocols));

/**
 * Returns why a message has no effect: its protocol is not one of the field, or a device names no
 * session. The server adds the session to messages of users.
 */
export function withoutEffect(
  { proto, sid }: ConnectMessage,
  owner: SocketOrigin['socket'],
): string | undefined {
  if (!numbers.has(proto)) {
    return `the protocol ${proto} is unknown; the known ones are ${names.join(', ')}`;
  }
  return sid === undefined && owner === 'device'
    ? 'the message has no hdr.sid, so it reaches nobody; copy hdr.sid from the message that it answers'
    : undefined;
}
