/** Reads the messages on WebSockets. */
import {
  type ConnectMessage,
  ConnectMessageError,
  decodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';

/** Returns the message in a payload; undefined if it is not one. */
export function messageIn(payload: Uint8Array): ConnectMessage | undefined {
  try {
    return decodeConnectMessage(payload);
  } catch (error) {
    if (error instanceof ConnectMessageError) return undefined;
    throw error;
  }
}
