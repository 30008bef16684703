/** Reads responses from the bytes of a connection. RFC 9112 */
import type { HttpResponse } from './response.ts';
import { TransportFailure } from './transport-failure.ts';

/** The status line and headers of one response. */
export interface RawHead {
  /** The HTTP version of the response, such as `1.1`. */
  readonly version: string;
  readonly status: number;
  /** Names in lower case; repeated ones are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One parsed response, and the bytes that follow it. */
export interface ParsedResponse {
  readonly head: RawHead;
  readonly response: HttpResponse;
  readonly followingBytes: Buffer;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

/**
 * Parses the first response, which may be an interim one; returns undefined while it is incomplete.
 * `hasEnded` is true if the connection has ended, which completes a body without a length.
 * @throws TransportFailure `not-http` when the bytes are not an HTTP response
 */
export function parsedResponse(bytes: Buffer, hasEnded: boolean): ParsedResponse | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) {
    if (bytes.length >= 5 && !bytes.subarray(0, 5).equals(Buffer.from('HTTP/')))
      throw notHttp(bytes);
    return undefined;
  }
  const head = headIn(bytes.subarray(0, end).toString('latin1'));
  const body = bodyIn(head, bytes.subarray(end + HEAD_END.length), hasEnded);
  if (!body) return undefined;
  const { status, headers } = head;
  const response = { status, headers, bytes: body.bytes, text: body.bytes.toString('utf8') };
  return { head, response, followingBytes: body.followingBytes };
}

function headIn(text: string): RawHead {
  const [line = '', ...rows] = text.split('\r\n');
  const [, version = '', status = ''] = /^HTTP\/(\d\.\d) (\d{3})(?: |$)/.exec(line) ?? [];
  if (version === '') throw notHttp(Buffer.from(line));
  const headers: Record<string, string> = {};
  for (const row of rows) {
    const colon = row.indexOf(':');
    const name = row.slice(0, colon).toLowerCase();
    const value = row.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return { version, status: Number(status), headers };
}

interface ResponseBody {
  readonly bytes: Buffer;
  readonly followingBytes: Buffer;
}

function bodyIn(
  { status, headers }: RawHead,
  bytes: Buffer,
  hasEnded: boolean,
): ResponseBody | undefined {
  if (status < 200 || status === 204 || status === 304) {
    return { bytes: Buffer.alloc(0), followingBytes: bytes };
  }
  if (/\bchunked$/i.test(headers['transfer-encoding'] ?? '')) return chunksIn(bytes);
  const length = headers['content-length'];
  if (length === undefined)
    return hasEnded ? { bytes, followingBytes: Buffer.alloc(0) } : undefined;
  if (!/^\d+$/.test(length)) throw notHttp(Buffer.from(`content-length: ${length}`));
  const end = Number(length);
  if (bytes.length < end) return undefined;
  return { bytes: bytes.subarray(0, end), followingBytes: bytes.subarray(end) };
}

function chunksIn(bytes: Buffer): ResponseBody | undefined {
  const chunks: Buffer[] = [];
  for (let from = 0; ; ) {
    const end = bytes.indexOf(LINE_END, from);
    if (end < 0) return undefined;
    const [, digits = ''] =
      /^([0-9a-f]+)/i.exec(bytes.subarray(from, end).toString('latin1')) ?? [];
    if (digits === '') throw notHttp(bytes.subarray(from, end));
    const size = Number.parseInt(digits, 16);
    const begin = end + LINE_END.length;
    if (size === 0) {
      // Trailers are not supported, since no known server sends them.
      if (bytes.length < begin + LINE_END.length) return undefined;
      return {
        bytes: Buffer.concat(chunks),
        followingBytes: bytes.subarray(begin + LINE_END.length),
      };
    }
    from = begin + size + LINE_END.length;
    if (bytes.length < from) return undefined;
    chunks.push(bytes.subarray(begin, begin + size));
  }
}

function notHttp(bytes: Buffer): TransportFailure {
  const beginning = JSON.stringify(bytes.subarray(0, 40).toString('latin1'));
  return new TransportFailure('not-http', `the response is not HTTP: ${beginning}`);
}
