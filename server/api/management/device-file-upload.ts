/**
 * Receives a file for a device as a multipart upload: first the fields path, uid, gid and mode,
 * then the file.
 */
import type { IncomingMessage } from 'node:http';
import type { BusboyFileStream } from '@fastify/busboy';
import * as v from 'valibot';
import { limits } from '../../../fixtures/contract/limits.ts';
import { deviceFileFieldsShape } from '../../../fixtures/contract/management/connect.ts';
import { ClientDisconnected, watchBodyFailure } from '../../http/body.ts';
import { shapeDetail } from '../../http/problem-detail.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import { problemOf } from '../../pipeline/input.ts';
import { malformedParts, openMultipart, tooManyParts } from './multipart.ts';

/** An upload whose fields have been read and whose file is still arriving. */
interface DeviceFileUpload {
  readonly fields: v.InferOutput<typeof deviceFileFieldsShape>;
  /** The file name that the user's client sent, without folders. */
  readonly name: string;
  /** The content of the file. Reading it can throw `UploadRefused` or `ClientDisconnected`. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** Thrown while the file of an upload is read, when the upload has to be refused. */
export class UploadRefused extends Error {
  override readonly name = 'UploadRefused';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.error);
    this.refusal = refusal;
  }
}

const noFile = refuse.malformed('file: is required, as the last part, with a file name', {
  path: 'form.file',
  expected: 'a part with a file name, after all others',
  actual: 'none',
});

/** Returns the upload as soon as its file begins, or a refusal. @throws ClientDisconnected */
export function receiveDeviceFile(
  request: IncomingMessage,
  fileMaxBytes: number = limits.deviceFileMaxBytes,
): Promise<DeviceFileUpload | Refusal> {
  // One byte more than allowed, so that a string that the parser cut off still fails the length
  // check.
  const textMaxBytes = limits.deviceFilePathMaxBytes + 1;
  const parser = openMultipart(request, { textMaxBytes, fileMaxBytes });
  if (parser instanceof Refusal) return Promise.resolve(parser);
  const fields: Record<string, string> = Object.create(null);
  return new Promise((resolve, reject) => {
    let file: BusboyFileStream | undefined;
    let isRefused = false;
    parser.on('field', (name, value) => {
      fields[name] = value;
    });
    parser.on('file', (name, stream, fileName) => {
      // Without a listener, an error that occurs before or after the stream is read would end the
      // process. `destroy` keeps the error for a later reader.
      stream.on('error', (error) => stream.destroy(error));
      if (name !== 'file' || file) stream.resume();
      else {
        file = stream;
        const content = contentOf(stream, fileMaxBytes);
        resolve(uploadOf(fields, fileName, content));
      }
    });
    parser.on('finish', () => resolve(noFile));
    parser.on('partsLimit', () => {
      discardRest(request);
      resolve(tooManyParts);
    });
    parser.on('error', (error: unknown) => {
      file?.destroy(error as Error);
      resolve(malformedParts(error));
    });
    watchBodyFailure(request, (refusal) => {
      isRefused = true;
      discardRest(request);
      parser.destroy();
      file?.destroy(new UploadRefused(refusal));
      resolve(refusal);
    });
    request.on('close', () => {
      if (request.complete || isRefused) return;
      const disconnection = new ClientDisconnected('the connection closed during the upload');
      parser.destroy();
      file?.destroy(disconnection);
      reject(disconnection);
    });
    request.pipe(parser);
  });
}

/** Reads the rest of the body and discards it. */
export function discardRest(request: IncomingMessage): void {
  request.unpipe();
  request.resume();
}

function uploadOf(
  fields: Readonly<Record<string, string>>,
  name: string | undefined,
  content: AsyncIterable<Uint8Array>,
): DeviceFileUpload | Refusal {
  const parseResult = v.safeParse(deviceFileFieldsShape, fields, { abortEarly: true });
  if (!parseResult.success)
    return refuse.malformed(
      `${problemOf(parseResult.issues[0])}, before the file`,
      shapeDetail('form', parseResult.issues[0], { schema: deviceFileFieldsShape }),
    );
  const { deviceFileNameMaxBytes: maxBytes } = limits;
  if (name === undefined || name === '') return noFile;
  if (Buffer.byteLength(name) > maxBytes) {
    return refuse.malformed(`file: its name must be at most ${maxBytes} bytes long`, {
      path: 'form.file',
      expected: `a file name of at most ${maxBytes} bytes`,
    });
  }
  return { fields: parseResult.output, name, content };
}

async function* contentOf(
  file: BusboyFileStream,
  fileMaxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const part of file) yield part as Buffer;
  } catch (error) {
    if (error instanceof ClientDisconnected || error instanceof UploadRefused) throw error;
    throw new UploadRefused(malformedParts(error));
  }
  if (file.truncated) throw new UploadRefused(refuse.tooLarge(fileMaxBytes));
}
