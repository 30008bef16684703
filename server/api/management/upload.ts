/** Receives a multipart upload: text parts first, then one file. */
import type { IncomingMessage } from 'node:http';
import type { BusboyFileStream } from '@fastify/busboy';
import { limits } from '../../../fixtures/contract/limits.ts';
import { ClientDisconnected, tooManyBytes, watchBodyFailure } from '../../http/body.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import { tooManyOpenFiles } from '../../http/response.ts';
import type { HandlerContext } from '../../pipeline/endpoint.ts';
import type { FileStore, ReceivedFile } from '../../store/files.ts';
import { malformedParts, openMultipart, tooManyParts } from './multipart.ts';

export interface ReceivedUpload {
  readonly file: ReceivedFile;
  /** The file name that the client sent. It is not validated. */
  readonly fileName: string;
  /** The text parts that came before the file. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The expected parts of an upload, and where its file is stored. */
interface ExpectedUpload {
  readonly files: FileStore;
  /** Name of the part that contains the file. Parts after it are ignored. */
  readonly filePart: string;
  readonly fileMaxBytes: number;
}

/** Maximum size of everything but the file: the text parts and the headers of all parts. */
const FRAME_MAX_BYTES = limits.uploadPartsMax * limits.uploadFieldMaxBytes;

type UploadContext = Pick<HandlerContext, 'request' | 'openFiles' | 'incompleteTransfers'>;

/** Returns the parts, or a refusal. A refused upload leaves no file. @throws ClientDisconnected */
export async function receiveUpload(
  context: UploadContext,
  form: ExpectedUpload,
): Promise<ReceivedUpload | Refusal> {
  const { openFiles } = context;
  if (!openFiles.tryAcquire()) return tooManyOpenFiles;
  try {
    return await readParts(context, form);
  } finally {
    openFiles.release();
  }
}

function readParts(
  { request, incompleteTransfers }: UploadContext,
  form: ExpectedUpload,
): Promise<ReceivedUpload | Refusal> {
  const { files, filePart, fileMaxBytes } = form;
  if (Number(request.headers['content-length'] ?? 0) > fileMaxBytes + FRAME_MAX_BYTES) {
    return Promise.resolve(refuse.tooLarge(fileMaxBytes));
  }
  const bounds = { textMaxBytes: limits.uploadFieldMaxBytes, fileMaxBytes };
  const parser = openMultipart(request, bounds);
  if (parser instanceof Refusal) return Promise.resolve(parser);
  const fields = new Map<string, string>();
  return new Promise((resolve, reject) => {
    let file: BusboyFileStream | undefined;
    let receiving: Promise<ReceivedUpload | Refusal> | undefined;
    let refusal: Refusal | undefined;
    const refuseRest = (reason: Refusal): void => {
      refusal = reason;
      request.unpipe(parser);
      request.resume();
      resolve(discardUpload(receiving, files, reason));
    };
    const fieldsAreWhole = holdFields(request, incompleteTransfers, () => {
      fields.clear();
      parser.destroy();
      refuseRest(tooManyBytes);
    });
    parser.on('field', (name, value, _nameIsCut, valueIsCut) => {
      // Parts after the file are ignored: the documented order has the file last.
      if (receiving) return;
      if (valueIsCut) refusal = tooLongText(name);
      fields.set(name, value);
    });
    parser.on('file', (name, stream, fileName) => {
      if (name !== filePart || receiving) {
        // An error of an ignored part is also reported by the parser, which refuses the request.
        stream.on('error', () => stream.destroy());
        stream.resume();
        return;
      }
      file = stream;
      fieldsAreWhole();
      receiving = receiveFile(stream, form).then((received) =>
        received instanceof Refusal ? received : { file: received, fileName, fields },
      );
      // A disk error is reported at once, before the body has ended.
      receiving.catch((error: unknown) => {
        if (!refusal) reject(error);
      });
    });
    parser.on('finish', () => {
      if (refusal) resolve(discardUpload(receiving, files, refusal));
      else resolve(receiving ?? noFile(filePart));
    });
    parser.on('partsLimit', () => refuseRest(tooManyParts));
    parser.on('error', (error: unknown) => refuseRest(malformedParts(error)));
    watchBodyFailure(request, (reason) => {
      parser.destroy();
      refuseRest(reason);
      // The parser does not close the file that it was reading.
      file?.destroy(new ClientDisconnected('the body cannot be read to its end'));
    });
    request.on('close', () => {
      if (request.complete || refusal) return;
      const disconnection = new ClientDisconnected('the connection closed during the upload');
      parser.destroy();
      // The parser does not close the file that it was reading.
      file?.destroy(disconnection);
      void discardUpload(receiving, files, noFile(filePart)).then(() => reject(disconnection));
    });
    request.pipe(parser);
  });
}

/**
 * Counts the bytes of the parts before the file, which are kept in memory. Counting ends when the
 * returned function is called.
 */
function holdFields(
  request: IncomingMessage,
  incompleteTransfers: HandlerContext['incompleteTransfers'],
  dropUpload: () => void,
): () => void {
  let bytes = 0;
  const transfer = incompleteTransfers.open(() => {
    stop();
    dropUpload();
  });
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    transfer.set(bytes);
  };
  const stop = (): void => {
    request.off('data', count).off('close', stop).off('end', stop);
    transfer.set(0);
  };
  request.on('data', count).on('close', stop).on('end', stop);
  return stop;
}

async function receiveFile(
  stream: BusboyFileStream,
  { files, fileMaxBytes }: ExpectedUpload,
): Promise<ReceivedFile | Refusal> {
  const file = await files.receive(stream);
  if (!stream.truncated) return file;
  files.discard(file);
  return refuse.tooLarge(fileMaxBytes);
}

/** Deletes the file if it was received, then resolves with the refusal. */
async function discardUpload(
  receiving: Promise<ReceivedUpload | Refusal> | undefined,
  files: FileStore,
  refusal: Refusal,
): Promise<Refusal> {
  const receivedUpload = await receiving?.catch(() => undefined);
  if (receivedUpload && !(receivedUpload instanceof Refusal)) files.discard(receivedUpload.file);
  return refusal;
}

function noFile(part: string): Refusal {
  return refuse.malformed(`the request has no part "${part}" with the file`, {
    path: `form.${part}`,
    expected: 'a part with the file',
    actual: 'none',
  });
}

function tooLongText(part: string): Refusal {
  return refuse.malformed(`${part}: must have at most ${limits.uploadFieldMaxBytes} bytes`, {
    path: `form.${part}`,
    expected: `at most ${limits.uploadFieldMaxBytes} bytes`,
  });
}
