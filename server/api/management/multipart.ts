/** Reads the parts of a multipart body one by one, with limits on their number and headers. */
import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { limits } from '../../../fixtures/contract/limits.ts';
import { type Refusal, refuse } from '../../http/refusal.ts';

/** Maximum length of a part's name, and maximum number of header lines of a part. */
const NAME_MAX_BYTES = 100;
const HEAD_LINES_MAX = 20;

/** The refusal detail for a Content-Type without a boundary. */
const formType = {
  path: 'header.Content-Type',
  expected: 'multipart/form-data; boundary=<boundary>',
};

/** Maximum content of text parts and of files, in bytes. The parser cuts off what is longer. */
interface PartBounds {
  readonly textMaxBytes: number;
  readonly fileMaxBytes: number;
}

/**
 * Returns a parser for a multipart request body, or a refusal. The parser emits `partsLimit` at the
 * first part beyond the limit and ignores the following parts, so the caller must answer with
 * `tooManyParts`.
 */
export function openMultipart(
  request: IncomingMessage,
  { textMaxBytes, fileMaxBytes }: PartBounds,
): BusboyInstance | Refusal {
  // The parser accepts only multipart/form-data. The body of multipart/mixed has the same form.
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

/** The refusal of a body with more parts than the limit. */
export const tooManyParts = refuse.malformed(
  `the multipart body has more than ${limits.uploadPartsMax} parts; send only the required ones`,
  { path: 'form', expected: `at most ${limits.uploadPartsMax} parts`, actual: 'more parts' },
);

/** Returns the refusal of a body that cannot be parsed. */
export function malformedParts(error: unknown): Refusal {
  return refuse.malformed(`the multipart body is malformed: ${messageOf(error)}`, {
    path: 'form',
    expected: 'multipart parts up to the closing boundary',
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
