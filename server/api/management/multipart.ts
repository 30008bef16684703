/** Reads the parts of a multipart body one by one, with limits on their number and headers. */
import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { limits } from '../../../fixtures/contract/limits.ts';
import { type Refusal, refuse } from '../../http/refusal.ts';

/** Largest name of a part, and number of lines in its head. */
const NAME_MAX_BYTES = 100;
const HEAD_LINES_MAX = 20;

/** The detail of a media type that does not say how the parts are separated. */
const formType = {
  path: 'header.Content-Type',
  expected: 'multipart/form-data; boundary=<boundary>',
};

/** Largest content of the two kinds of parts, in bytes; what is longer is cut off. */
interface PartBounds {
  readonly textMaxBytes: number;
  readonly fileMaxBytes: number;
}

/**
 * Returns a parser for the body of a request, or why there is none. It emits `partsLimit` at the first
 * part that is too many, which is to be answered by `tooManyParts`: it would read on, and ignore what
 * it reads.
 */
export function openMultipart(
  request: IncomingMessage,
  { textMaxBytes, fileMaxBytes }: PartBounds,
): BusboyInstance | Refusal {
  // The parser knows one of the two media types, whose bodies are of the same form.
  const contentType = (request.headers['content-type'] ?? '').replace(
    /^\s*multipart\/mixed/i,
    'multipart/form-data',
  );
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      limits: {
        fieldNameSize: NAME_MAX_BYTES,
        fieldSize: textMaxBytes,
        fileSize: fileMaxBytes,
        parts: limits.uploadPartsMax,
        headerPairs: HEAD_LINES_MAX,
      },
    });
  } catch (error) {
    return refuse.malformed(`the Content-Type header is malformed: ${messageOf(error)}`, formType);
  }
}

/** The answer to a body with more parts than are read. */
export const tooManyParts = refuse.malformed(
  `the multipart body has more than ${limits.uploadPartsMax} parts; send only the required ones`,
  { path: 'form', expected: `at most ${limits.uploadPartsMax} parts`, actual: 'more parts' },
);

/** The answer to a body that cannot be parsed. */
export function malformedParts(error: unknown): Refusal {
  return refuse.malformed(`the multipart body is malformed: ${messageOf(error)}`, {
    path: 'form',
    expected: 'multipart parts up to the closing boundary',
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
