/** The request, read from the record of an exchange. */
import { isObject, parsedJson } from '../../fixtures/json.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';

/** A request as it was received. */
export interface ReceivedRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The query without the question mark. */
  readonly search: string;
  /** Header values by name in lower case; the first of each name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Absent when there was none, when it was not read, or when only its beginning was kept. */
  readonly body: Buffer | undefined;
  /** Length of the body that was sent, kept or not. */
  readonly bodyBytes: number;
}

export function receivedRequestOf(
  record: Pick<ExchangeRecord, 'method' | 'url' | 'headers' | 'body' | 'bodyBytes'>,
): ReceivedRequest {
  const { method, url, headers: flat, body, bodyBytes } = record;
  const mark = url.indexOf('?');
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const name = (flat[at] ?? '').toLowerCase();
    if (!headers.has(name)) headers.set(name, flat[at + 1] ?? '');
  }
  return {
    method,
    path: mark < 0 ? url : url.slice(0, mark),
    search: mark < 0 ? '' : url.slice(mark + 1),
    headers,
    bodyBytes,
    body: body && body.length > 0 && body.length === bodyBytes ? body : undefined,
  };
}

/** Whether a body was sent, or announced, of which not all is known. */
export function hasUnknownBody({ headers, body, bodyBytes }: ReceivedRequest): boolean {
  const announced =
    Number(headers.get('content-length') ?? 0) > 0 || headers.has('transfer-encoding');
  return body === undefined && (bodyBytes > 0 || announced);
}

/** The body as text, byte order mark included; undefined without one, or when it is not UTF-8. */
export function textOf({ body }: Pick<ReceivedRequest, 'body'>): string | undefined {
  if (!body) return undefined;
  try {
    return utf8.decode(body);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The value of a JSON text; undefined when it is not JSON, or nests too deeply to be traversed. */
export function jsonOf(text: string | undefined): { readonly value: unknown } | undefined {
  if (text === undefined || levelsOf(text) > LEVELS_MAX) return undefined;
  // The correction of a body that has a byte order mark is the body without it.
  const value = parsedJson(text.replace(/^\u{feff}/u, ''));
  return value === undefined ? undefined : { value };
}

/** Deeper than any body of the contract, and far from where walking through it would fail. */
const LEVELS_MAX = 200;

/** At most how deep a JSON text nests; brackets within its texts count as well. */
function levelsOf(text: string): number {
  let level = 0;
  let deepest = 0;
  for (const [bracket] of text.matchAll(/[[{\]}]/g)) {
    level += bracket === '[' || bracket === '{' ? 1 : -1;
    deepest = Math.max(deepest, level);
  }
  return deepest;
}

/** The user or device that a token names, read without checking its signature. */
interface TokenOwner {
  readonly subject: string;
  readonly isDevice: boolean;
  /** The `jti` claim; for a device, the id of its authentication set. */
  readonly tokenId: unknown;
}

/** The owner of the token, which may be forged. */
export function tokenOwnerIn({ headers }: ReceivedRequest): TokenOwner | undefined {
  const token = headers.get('authorization') ?? headers.get('cookie') ?? '';
  const [, claims] = /\.([A-Za-z0-9_-]+)\./.exec(token) ?? [];
  const text = claims && Buffer.from(claims, 'base64url').toString();
  const read = jsonOf(text)?.value;
  if (!isObject(read) || typeof read.sub !== 'string') return undefined;
  return { subject: read.sub, isDevice: read['svc.device'] === true, tokenId: read.jti };
}
