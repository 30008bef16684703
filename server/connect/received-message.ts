/** Received messages: each is decoded only once, for all readers. */
import {
  type ConnectMessage,
  ConnectMessageError,
  decodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';

/** The decoded messages by their bytes, as long as the bytes are referenced. */
const decoded = new WeakMap<Uint8Array, ConnectMessage | ConnectMessageError>();

/** Returns the message in these bytes, or why they are not one; the bytes must not change. */
export function messageIn(bytes: Uint8Array): ConnectMessage | ConnectMessageError {
  const known = decoded.get(bytes);
  if (known) return known;
  const read = attempt(bytes);
  decoded.set(bytes, read);
  return read;
}

function attempt(bytes: Uint8Array): ConnectMessage | ConnectMessageError {
  try {
    return decodeConnectMessage(bytes);
  } catch (error) {
    if (error instanceof ConnectMessageError) return error;
    throw error;
  }
}

/** Why the bytes of a frame are no message; of text that a client of JSON sends, the kind says it. */
export function noMessageText({ message }: ConnectMessageError, isBinary: boolean): string {
  return isBinary ? message : 'a text frame: send a binary frame with a msgpack message';
}
