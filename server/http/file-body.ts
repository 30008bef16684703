/**
 * Serves a stored file with ranges, preconditions and a length, through Express's `send` library.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import send from 'send';
import type { RefusalDetail } from '../rules/refusal-detail.ts';
import type { Exchange } from './exchange.ts';
import { type FilePart, FileStream } from './file-stream.ts';
import { Refusal } from './refusal.ts';
import type { FileBody } from './success.ts';

const sentences: Readonly<Record<number, string>> = {
  404: 'the artifact file no longer exists',
  412: 'a precondition of the request (If-Unmodified-Since, If-Match) does not hold',
  416: 'the Range is outside the file',
};

/** Returns which header or state caused the refusal, and what would be accepted. */
function detailOf(
  status: number,
  { headers }: IncomingMessage,
  { sizeBytes, name, modifiedMs }: FileBody,
): RefusalDetail | undefined {
  if (status === 404) return { path: 'state', expected: 'an artifact whose file exists' };
  if (status === 416) {
    return {
      path: 'header.Range',
      expected: `bytes=FIRST-LAST with FIRST at most LAST and below ${sizeBytes}, the size of the file`,
      remedy: `send it again without Range, or with one within the file; the link is valid, and a file of ${sizeBytes} bytes is complete`,
    };
  }
  if (status !== 412) return undefined;
  const isMatch = 'if-match' in headers;
  return {
    path: isMatch ? 'header.If-Match' : 'header.If-Unmodified-Since',
    expected: isMatch ? `"${name}" or *` : `${new Date(modifiedMs).toUTCString()} or later`,
    remedy:
      'send it again without this header, or with the values of the current file; the link is valid',
  };
}

/** Headers of the file that do not apply to a refusal. */
const headersOfFile = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'Content-Type',
  'ETag',
  'Last-Modified',
];

const dated = ['if-modified-since', 'if-unmodified-since'] as const;
const day = '(Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const month = '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const time = '\\d{2}:\\d{2}:\\d{2}';
/** The three date formats of HTTP: IMF-fixdate, RFC 850, and asctime. */
const httpDate = new RegExp(
  `^(${day}, \\d{2} ${month} \\d{4} ${time} GMT|[A-Z][a-z]+day, \\d{2}-${month}-\\d{2} ${time} GMT|${day} ${month} [ \\d]\\d ${time} \\d{4})$`,
);

/** Sends the file. Passes an error of the library to `refused` as a Refusal. */
export function sendFile(
  exchange: Exchange,
  body: FileBody,
  onRefused: (refusal: Refusal) => void,
): void {
  const { record, request, response } = exchange;
  record.isStreamed = true;
  const conditional: typeof request = Object.create(request, {
    headers: { value: conditionsOf(request.headers, body) },
  });
  const stream = send(conditional, body.name, {
    root: body.folder,
    cacheControl: false,
    // Both validators are set below: the times of the file on disk are not the artifact's.
    etag: false,
    lastModified: false,
  });
  stream.on('error', (error: Error & { status?: number; headers?: Record<string, string> }) => {
    const status = error.status ?? 500;
    const range = response.getHeader('Content-Range');
    for (const name of headersOfFile) response.removeHeader(name);
    const headers = typeof range === 'string' ? { 'Content-Range': range } : {};
    onRefused(
      new Refusal(status, sentences[status] ?? 'internal error', {
        headers,
        detail: detailOf(status, request, body),
      }),
    );
  });
  stream.stream = (path: string, part: FilePart = { start: 0, end: 0 }) => {
    const file = new FileStream(path, part, response);
    // The connection may close while this response waits behind another one.
    response.once('close', () => file.destroy());
    if (response.destroyed) file.destroy();
    file.on('data', (chunk: Buffer) => {
      record.responseBytes += chunk.length;
    });
    file.on('error', (error) => {
      if (response.headersSent) response.destroy();
      else stream.onStatError(error);
    });
    file.pipe(response);
  };
  stream.on('headers', (to: typeof response) => {
    to.setHeader('Content-Type', body.mediaType);
    to.setHeader('Content-Disposition', dispositionOf(body.downloadName));
    to.setHeader('Last-Modified', new Date(body.modifiedMs).toUTCString());
    to.setHeader('ETag', `"${body.name}"`);
  });
  stream.pipe(response);
}

/**
 * Returns a Content-Disposition header for this name; special characters use the extended form (RFC
 * 6266).
 */
export function dispositionOf(name: string): string {
  const plainName = name.replace(/[^\w .()+-]/g, '_');
  const extendedParameter = plainName === name ? '' : `; filename*=UTF-8''${escapeName(name)}`;
  return `attachment; filename="${plainName}"${extendedParameter}`;
}

/** Percent-encodes a name by RFC 8187, which is stricter than a URL; replaces lone surrogates. */
function escapeName(name: string): string {
  return encodeURIComponent(name.replace(/\p{Cs}/gu, '\u{FFFD}')).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Returns the headers without dates that HTTP ignores, and with a suffix range no longer than the
 * file. The library would accept malformed dates, and refuse a longer suffix. RFC 9110, sections
 * 13.1 and 14.1.2
 */
export function conditionsOf(
  headers: IncomingHttpHeaders,
  { sizeBytes }: { readonly sizeBytes: number },
): IncomingHttpHeaders {
  const conditions = { ...headers };
  for (const name of dated) if (!httpDate.test(conditions[name] ?? '')) delete conditions[name];
  const [, suffix] = /^\s*bytes\s*=\s*-(\d+)\s*$/.exec(conditions.range ?? '') ?? [];
  if (Number(suffix) > sizeBytes) conditions.range = 'bytes=0-';
  return conditions;
}
