/** Transfers files of a device over a session: stat, read, write. Spec: Device connect */
import { limits } from '../../fixtures/contract/limits.ts';
import {
  acceptShape,
  decodeBody,
  encodeBody,
  type FileInfo,
  fileInfoShape,
  fileModes,
  type PutFile,
} from '../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  connectProtocols,
} from '../../fixtures/formats/connect-message.ts';
import { type DeviceSession, DeviceSessionError } from './device-session.ts';

const { control, fileTransfer } = connectProtocols;
const PROTOCOL_VERSION = 1;
const windowBytes = limits.fileChunksAhead * limits.fileChunkBytes;

/** The file type bits of stat(2), for devices that do not encode the type as Go does. */
const statKinds = 0o170000;
const statPlainFile = 0o100000;

/**
 * Negotiates the file transfer protocol with the device.
 * @throws DeviceSessionError when the device refuses
 */
export async function openTransfer(session: DeviceSession): Promise<void> {
  session.send({
    proto: control,
    typ: 'open',
    body: encodeBody({ versions: [PROTOCOL_VERSION] }),
  });
  const response = await session.next().catch((error: unknown) => {
    // Any other error of the device becomes 502: the negotiation is the server's request, not the
    // user's.
    const isRefusal = error instanceof DeviceSessionError && ![408, 409].includes(error.status);
    throw isRefusal ? new DeviceSessionError(502, error.message) : error;
  });
  if (response.proto !== control || response.typ !== 'accept') {
    throw new DeviceSessionError(502, 'the device does not support file transfer');
  }
  const { version, protocols } = readBody(response, () => decodeBody(acceptShape, response.body));
  if (version !== PROTOCOL_VERSION) {
    throw new DeviceSessionError(
      502,
      `the device supports version ${version} of the protocol, this server version 1`,
    );
  }
  if (!protocols.includes(fileTransfer)) {
    throw new DeviceSessionError(502, 'file transfer is disabled on the device');
  }
}

/**
 * Returns the device's description of a regular file.
 * @throws DeviceSessionError when the path is not a regular file
 */
export async function statFile(session: DeviceSession, path: string): Promise<FileInfo> {
  session.send({ proto: fileTransfer, typ: 'stat', body: encodeBody({ path }) });
  const response = await nextOfType(session, 'file_info');
  const info = readBody(response, () => decodeBody(fileInfoShape, response.body));
  if (info.mode === undefined || !isRegular(info.mode)) {
    throw new DeviceSessionError(400, `path: ${path} is not a regular file`);
  }
  return info;
}

/**
 * Yields the file's chunks in order, and acknowledges them as they are consumed.
 * @throws DeviceSessionError when the device fails, or breaks the protocol
 */
export async function* fetchFile(
  session: DeviceSession,
  path: string,
): AsyncGenerator<Uint8Array, void> {
  session.send({ proto: fileTransfer, typ: 'get_file', body: encodeBody({ path }) });
  let receivedBytes = 0;
  let unacknowledgedBytes = 0;
  const acknowledge = (): void => {
    unacknowledgedBytes = 0;
    session.send({ proto: fileTransfer, typ: 'ack', props: { offset: receivedBytes } });
  };
  for (;;) {
    const { props, body } = await nextOfType(session, 'file_chunk');
    const offset = props?.offset;
    const isEnd = body === undefined;
    if (offset !== receivedBytes && !(isEnd && offset === undefined)) {
      throw new DeviceSessionError(
        502,
        `the device sent the chunk at offset ${offsetText(offset)} instead of ${receivedBytes}`,
      );
    }
    if (isEnd) break;
    receivedBytes += body.length;
    unacknowledgedBytes += 1;
    yield body;
    if (unacknowledgedBytes === limits.fileAckEveryChunks) acknowledge();
  }
  acknowledge();
}

/**
 * Writes the content, and sends at most `windowBytes` ahead of the device's acknowledgements.
 * @throws DeviceSessionError when the device fails, or breaks the protocol
 */
export async function storeFile(
  session: DeviceSession,
  put: PutFile,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  session.send({ proto: fileTransfer, typ: 'put_file', body: encodeBody(put) });
  await nextOfType(session, 'ack');
  let sentBytes = 0;
  let acknowledgedBytes = 0;
  for await (const body of splitIntoChunks(content)) {
    const props = { offset: sentBytes };
    session.send({ proto: fileTransfer, typ: 'file_chunk', props, body });
    sentBytes += body.length;
    while (session.hasMessage || sentBytes - acknowledgedBytes >= windowBytes) {
      acknowledgedBytes = await nextAcknowledged(session, sentBytes);
    }
  }
  session.send({ proto: fileTransfer, typ: 'file_chunk', props: { offset: sentBytes } });
  do {
    acknowledgedBytes = await nextAcknowledged(session, sentBytes);
  } while (acknowledgedBytes < sentBytes);
}

/** Aborts a transfer that the device considers to be in progress. */
export function abortTransfer(session: DeviceSession, reason: string): void {
  const body = encodeBody({ err: reason, close: true });
  session.send({ proto: fileTransfer, typ: 'error', body });
}

async function nextAcknowledged(session: DeviceSession, sent: number): Promise<number> {
  const { props } = await nextOfType(session, 'ack');
  const offset = props?.offset;
  if (typeof offset === 'number' && offset >= 0 && offset <= sent) return offset;
  throw new DeviceSessionError(
    502,
    `the device acknowledged offset ${offsetText(offset)}, but ${sent} bytes were sent`,
  );
}

async function nextOfType(session: DeviceSession, typ: string): Promise<ConnectMessage> {
  const message = await session.next();
  if (message.proto === fileTransfer && message.typ === typ) return message;
  throw new DeviceSessionError(
    502,
    `the device sent "${message.typ}" of protocol ${message.proto} instead of "${typ}"`,
  );
}

function readBody<Body>({ typ }: ConnectMessage, read: () => Body): Body {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConnectMessageError)) throw error;
    throw new DeviceSessionError(
      502,
      `the device's "${typ}" message is malformed: ${error.message}`,
    );
  }
}

function isRegular(mode: number): boolean {
  const statKind = mode & statKinds;
  return (mode & fileModes.irregular) === 0 && (statKind === 0 || statKind === statPlainFile);
}

async function* splitIntoChunks(
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  const { fileChunkBytes } = limits;
  let remainingBytes: Uint8Array = new Uint8Array();
  for await (const part of content) {
    const bytes = remainingBytes.length === 0 ? part : Buffer.concat([remainingBytes, part]);
    let at = 0;
    for (; bytes.length - at >= fileChunkBytes; at += fileChunkBytes) {
      yield bytes.subarray(at, at + fileChunkBytes);
    }
    remainingBytes = bytes.subarray(at);
  }
  if (remainingBytes.length > 0) yield remainingBytes;
}

/** Formats a number that the device sent as an offset; any other value is shown as `none`. */
function offsetText(offset: unknown): string {
  return typeof offset === 'number' || typeof offset === 'bigint' ? String(offset) : 'none';
}
