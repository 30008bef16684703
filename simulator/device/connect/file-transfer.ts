/**
 * The file transfer protocol of one session: one file at a time, in acknowledged chunks. Paths
 * refer to the device's in-memory files.
 * Spec: Device connect
 */
import type * as v from 'valibot';
import { limits } from '../../../fixtures/contract/limits.ts';
import {
  decodeBody,
  encodeBody,
  fileModes,
  filePathShape,
  type PutFile,
  putFileShape,
} from '../../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import type { OutgoingMessage, ProtocolHandler } from './connect-environment.ts';
import { absolutePath, type DeviceFiles, FileError, fileLimits } from './files.ts';
import { protocolError } from './replies.ts';

interface DownloadInProgress {
  readonly kind: 'download';
  readonly content: Buffer;
  sent: number;
  acknowledged: number;
  /** True once the empty chunk that ends the file has been sent. */
  hasEnded: boolean;
}

interface UploadInProgress {
  readonly kind: 'upload';
  readonly target: PutFile;
  readonly chunks: Buffer[];
  received: number;
}

/** Thrown when a transfer cannot start or continue. */
class TransferError extends Error {
  override readonly name = 'TransferError';
}

/** File transfer in one session. */
export class FileTransfer implements ProtocolHandler {
  readonly #files: DeviceFiles;
  #running: DownloadInProgress | UploadInProgress | undefined;
  readonly #kinds = new Map<
    string | undefined,
    (message: ConnectMessage) => readonly OutgoingMessage[]
  >([
    ['stat', (message) => this.#stat(message)],
    ['get_file', (message) => this.#beginDownload(message)],
    ['put_file', (message) => this.#beginUpload(message)],
    ['file_chunk', (message) => this.#receiveChunk(message)],
    ['ack', (message) => this.#receiveAck(message)],
    ['error', () => this.end()],
  ]);

  constructor(files: DeviceFiles) {
    this.#files = files;
  }

  respond(message: ConnectMessage): readonly OutgoingMessage[] {
    const kind = this.#kinds.get(message.typ);
    if (kind === undefined) {
      const typ = message.typ ?? '';
      return [protocolError(message, `session: filetransfer message type '${typ}' not supported`)];
    }
    try {
      return kind(message);
    } catch (error) {
      const isForeseen = [ConnectMessageError, FileError, TransferError].some(
        (known) => error instanceof known,
      );
      if (!isForeseen || !(error instanceof Error)) throw error;
      return [protocolError(message, error.message)];
    }
  }

  end(): readonly OutgoingMessage[] {
    this.#running = undefined;
    return [];
  }

  #stat(message: ConnectMessage): readonly OutgoingMessage[] {
    const { path } = request(filePathShape, message);
    const stat = describeFailure(`failed to get file info from path '${path}'`, () =>
      this.#files.stat(path),
    );
    const info = {
      path,
      size: stat.sizeBytes,
      uid: stat.uid,
      gid: stat.gid,
      mode: stat.mode + (stat.isFolder ? fileModes.directory : 0),
      modtime: new Date(stat.modifiedMs),
    };
    return [replyMessage('file_info', { body: encodeBody(info) })];
  }

  #beginDownload(message: ConnectMessage): readonly OutgoingMessage[] {
    const { path } = request(filePathShape, message);
    this.#checkFree();
    const content = describeFailure(`failed to open file '${path}' for reading`, () =>
      this.#files.read(path),
    );
    const download: DownloadInProgress = {
      kind: 'download',
      content,
      sent: 0,
      acknowledged: 0,
      hasEnded: false,
    };
    this.#running = download;
    return this.#sendNext(download);
  }

  /** Returns as many chunks as may be in flight, and the end marker after the last chunk. */
  #sendNext(download: DownloadInProgress): readonly OutgoingMessage[] {
    const { content } = download;
    const { fileChunkBytes, fileChunksAhead } = limits;
    const until = download.acknowledged + fileChunksAhead * fileChunkBytes;
    const chunks: OutgoingMessage[] = [];
    while (download.sent < content.length && download.sent < until) {
      const offset = download.sent;
      const body = content.subarray(offset, offset + fileChunkBytes);
      chunks.push(replyMessage('file_chunk', { props: { offset }, body }));
      download.sent += body.length;
    }
    if (download.sent === content.length && !download.hasEnded) {
      download.hasEnded = true;
      chunks.push(replyMessage('file_chunk', { props: { offset: download.sent } }));
    }
    return chunks;
  }

  #receiveAck(message: ConnectMessage): readonly OutgoingMessage[] {
    const transfer = this.#running;
    if (transfer?.kind !== 'download') throw new TransferError('no file transfer in progress');
    const offset = offsetIn(message);
    if (offset > transfer.sent) return this.#abort('ack of an offset that was not sent yet');
    transfer.acknowledged = Math.max(transfer.acknowledged, offset);
    return this.#sendNext(transfer);
  }

  #beginUpload(message: ConnectMessage): readonly OutgoingMessage[] {
    const target = request(putFileShape, message);
    this.#checkFree();
    const { path, size = 0 } = target;
    if (size > fileLimits.fileMaxBytes) {
      throw new TransferError(`the file is larger than ${fileLimits.fileMaxBytes} bytes`);
    }
    if (this.#files.exists(path) && this.#files.stat(path).isFolder) {
      throw new TransferError('conflicting file path: cannot overwrite irregular file');
    }
    const folder = absolutePath(`${path}/..`);
    describeFailure(`failed to create target file: folder '${folder}'`, () =>
      this.#files.list(folder),
    );
    this.#running = { kind: 'upload', target, chunks: [], received: 0 };
    return [replyMessage('ack', { props: { offset: 0 } })];
  }

  #receiveChunk(message: ConnectMessage): readonly OutgoingMessage[] {
    const transfer = this.#running;
    if (transfer?.kind !== 'upload') throw new TransferError('no file transfer in progress');
    const offset = offsetIn(message);
    if (offset !== transfer.received) return this.#abort('received unexpected chunk offset');
    const { body } = message;
    if (body === undefined) return this.#commit(transfer);
    transfer.received += body.length;
    if (transfer.received > fileLimits.fileMaxBytes) {
      return this.#abort(`the file is larger than ${fileLimits.fileMaxBytes} bytes`);
    }
    const count = transfer.chunks.push(Buffer.from(body));
    return count % limits.fileAckEveryChunks === 0 ? [ackOf(transfer)] : [];
  }

  #commit(upload: UploadInProgress): readonly OutgoingMessage[] {
    const { path, mode, uid, gid } = upload.target;
    this.#running = undefined;
    const ownership = {
      mode: (mode ?? 0o644) & fileModes.permissions,
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    };
    describeFailure('failed to commit uploaded file', () =>
      this.#files.write(path, Buffer.concat(upload.chunks), ownership),
    );
    return [ackOf(upload)];
  }

  /**
   * Checks that no transfer is in progress. A download whose chunks were all sent does not block
   * the next transfer, even if they are never acknowledged.
   */
  #checkFree(): void {
    const transfer = this.#running;
    const isFree = transfer === undefined || (transfer.kind === 'download' && transfer.hasEnded);
    if (!isFree) throw new TransferError('another file transfer is in progress');
  }

  #abort(reason: string): never {
    this.#running = undefined;
    throw new TransferError(reason);
  }
}

function replyMessage(
  typ: string,
  fields: Pick<OutgoingMessage, 'props' | 'body'>,
): OutgoingMessage {
  return { proto: connectProtocols.fileTransfer, typ, ...fields };
}

function ackOf({ received }: UploadInProgress): OutgoingMessage {
  return replyMessage('ack', { props: { offset: received } });
}

/** Decodes a request and checks that its path is absolute. */
function request<Shape extends v.GenericSchema<unknown, { path: string }>>(
  shape: Shape,
  { body }: ConnectMessage,
): v.InferOutput<Shape> {
  const parameters = decodeBody(shape, body);
  if (parameters.path === '')
    throw new TransferError('invalid request parameters: path is missing');
  if (parameters.path.startsWith('/')) return parameters;
  throw new TransferError(`invalid request parameters: path '${parameters.path}' is not absolute`);
}

function offsetIn({ typ, props }: ConnectMessage): number {
  const offset = props?.offset;
  if (typeof offset === 'number' && Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new TransferError(`invalid ${typ} message: offset property is missing or not an integer`);
}

/** Runs an action on a file and prefixes its error message with `attempt`. */
function describeFailure<Result>(attempt: string, callback: () => Result): Result {
  try {
    return callback();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new FileError(`${attempt}: ${error.message}`, { cause: error });
  }
}
