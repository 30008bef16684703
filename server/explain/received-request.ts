/** Reads a request from the record of an exchange. */
import { isObject, parsedJson } from '../../fixtures/base/json.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';

/** A request as it was received. */
export interface ReceivedRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The query without the question mark. */
  readonly search: string;
  /** Header values by lower-case name. If a name occurs several times, the first value counts. */
  readonly headers: ReadonlyMap<string, string>;
  /** Absent if there was no body, if it was not read, or if only its beginning was recorded. */
  readonly body: Buffer | undefined;
  /** Length of the sent body in bytes, whether recorded or not. */
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

/** Returns true if a body was sent or announced but is not completely known. */
export function hasUnknownBody({ headers, body, bodyBytes }: ReceivedRequest): boolean {
  const announced =
    Number(headers.get('content-length') ?? 0) > 0 || headers.has('transfer-encoding');
  return body === undefined && (bodyBytes > 0 || announced);
}

/**
 * Returns the body as text, including a byte order mark; undefined if there is none or it is not
 * UTF-8.
 */
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

/**
 * Returns the value of a JSON text; undefined if it is not JSON, or nested too deeply to be
 * traversed.
 */
export function jsonOf(text: string | undefined): { readonly value: unknown } | undefined {
  if (text === undefined || levelsOf(text) > LEVELS_MAX) return undefined;
  // The corrected body has no byte order mark.
  const value = parsedJson(text.replace(/^\u{feff}/u, ''));
  return value === undefined ? undefined : { value };
}

/**
 * Maximum nesting. It is deeper than any body of the contract, and safe for recursive functions.
 */
const LEVELS_MAX = 200;

/** Returns an upper bound for the nesting of a JSON text. Brackets inside strings count too. */
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
  /** The `jti` claim; for a device, the ID of its authentication set. */
  readonly tokenId: unknown;
}

/** Returns the owner that the token names. The token may be forged. */
export function tokenOwnerIn({ headers }: ReceivedRequest): TokenOwner | undefined {
  const token = headers.get('authorization') ?? headers.get('cookie') ?? '';
  const [, claims] = /\.([A-Za-z0-9_-]+)\./.exec(token) ?? [];
  const text = claims && Buffer.from(claims, 'base64url').toString();
  const payload = jsonOf(text)?.value;
  if (!isObject(payload) || typeof payload.sub !== 'string') return undefined;
  return { subject: payload.sub, isDevice: payload['svc.device'] === true, tokenId: payload.jti };
}
