/** Reads the body of a response, with a size limit, and decodes a content coding such as gzip. */
import { isUtf8 } from 'node:buffer';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { jsonExcess } from '../../fixtures/base/json-bounds.ts';
import { TransportFailure } from './transport-failure.ts';

/** The largest response that is read; the suite's artifacts are far smaller. */
const RESPONSE_MAX_BYTES = 16 * 1_048_576;

const decoders = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/** Headers as received; a header that was received several times has a list of values. */
export type AnsweredHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * A body with its headers. If a content coding was decoded, the headers lack Content-Encoding and
 * Content-Length, which no longer match the bytes.
 */
interface ReadBody {
  readonly bytes: Buffer;
  readonly headers: AnsweredHeaders;
}

/**
 * Returns the whole body.
 * @throws TransportFailure when the body is larger than the suite reads, or does not have the
 * content coding that its header names
 */
export async function readResponse(
  body: Dispatcher.ResponseData['body'],
  headers: AnsweredHeaders,
): Promise<ReadBody> {
  const decodedBody = decoded({ bytes: await readBytes(body, headers), headers });
  // Part of an artifact file may look like JSON, so binary bodies are not checked as JSON.
  const isBinary = !isUtf8(decodedBody.bytes) && !/json/i.test(String(headers['content-type']));
  const excess = isBinary ? undefined : jsonExcess(decodedBody.bytes);
  if (excess !== undefined) throw tooLarge(excess, 'went');
  return decodedBody;
}

/** Reads all chunks. An error thrown inside the loop also destroys the connection. */
async function readBytes(
  body: Dispatcher.ResponseData['body'],
  headers: AnsweredHeaders,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    const isTooLarge =
      Math.max(length, Number(headers['content-length'] ?? 0)) > RESPONSE_MAX_BYTES;
    if (isTooLarge) throw tooLarge(`is larger than ${RESPONSE_MAX_BYTES} bytes`, 'read');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decoded({ bytes, headers }: ReadBody): ReadBody {
  const { 'content-encoding': coding, 'content-length': _, ...otherHeaders } = headers;
  const decode = decoders.get(String(coding).trim().toLowerCase());
  if (!decode || bytes.length === 0) return { bytes, headers };
  try {
    return { bytes: decode(bytes, { maxOutputLength: RESPONSE_MAX_BYTES }), headers: otherHeaders };
  } catch (error) {
    if (error instanceof RangeError)
      throw tooLarge(`is larger than ${RESPONSE_MAX_BYTES} bytes`, 'read');
    const message = `the body is not ${coding}, as its header says`;
    throw new TransportFailure('not-http', message, error);
  }
}

function tooLarge(how: string, did: string): TransportFailure {
  const message = `the response ${how}; the suite ${did} no further`;
  return new TransportFailure('response-too-large', message);
}
