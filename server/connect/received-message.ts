/** Decodes received messages. Each message is decoded once, although several readers need it. */
import {
  type ConnectMessage,
  ConnectMessageError,
  decodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';

/** Decoded messages by their bytes; an entry lives as long as its bytes are referenced. */
const decoded = new WeakMap<Uint8Array, ConnectMessage | ConnectMessageError>();

/**
 * Returns the decoded message, or the reason why the bytes are not a message. The caller must not
 * change the bytes.
 */
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

/**
 * Returns why a frame is not a message. For a text frame, as a client that sends JSON produces, the
 * frame type is the reason.
 */
export function noMessageText({ message }: ConnectMessageError, isBinary: boolean): string {
  return isBinary ? message : 'a text frame: send a binary frame with a msgpack message';
}
