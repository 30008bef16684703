/** Functions that build messages for several protocols: errors, and bytes in pieces. */
import { firstCharacters } from '../../../fixtures/base/characters.ts';
import { limits } from '../../../fixtures/contract/limits.ts';
import { encodeBody } from '../../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import type { OutgoingMessage } from './connect-environment.ts';

/** Values of `props.status` in messages of the shell and of the update client. */
export const messageStatuses = { normal: 1, error: 2, control: 3 } as const;

/** Limit on an error text, because a message of a device has at most 8192 bytes. */
const ERROR_MAX_CHARACTERS = 1000;
/** Limit on a text property that the other side chose and the device sends back. */
const TEXT_MAX_CHARACTERS = 256;

/**
 * Builds an error of the control protocol.
 * @param closes true when the error ends the session
 */
export function controlError(
  about: Partial<ConnectMessage>,
  err: string,
  closes: boolean,
): OutgoingMessage {
  const msgid = textProp(about, 'msgid');
  const { proto, typ } = about;
  const body = { err: shortenError(err), close: closes, msgproto: proto, msgtype: typ, msgid };
  return { proto: connectProtocols.control, typ: 'error', body: encodeBody(body) };
}

/** Builds an error message of the protocol that `about` belongs to. */
export function protocolError(about: ConnectMessage, err: string): OutgoingMessage {
  const msgid = textProp(about, 'msgid');
  const body = { err: shortenError(err), msgtype: about.typ, msgid };
  return { proto: about.proto, typ: 'error', body: encodeBody(body) };
}

/** Returns a text property that is short enough to be sent back; undefined otherwise. */
export function textProp({ props }: Partial<ConnectMessage>, name: string): string | undefined {
  const value = props?.[name];
  const isShort = typeof value === 'string' && value.length <= TEXT_MAX_CHARACTERS;
  return isShort ? value : undefined;
}

/** Splits bytes into pieces that each fit into one message. */
export function messageChunks(bytes: Buffer): Buffer[] {
  const count = Math.ceil(bytes.length / limits.fileChunkBytes);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * limits.fileChunkBytes, (index + 1) * limits.fileChunkBytes),
  );
}

function shortenError(text: string): string {
  return firstCharacters(text, ERROR_MAX_CHARACTERS);
}
