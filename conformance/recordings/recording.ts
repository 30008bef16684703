/** The types of recorded traffic, independent of the file format, and the error for a bad file. */
import { parsedJson } from '../../fixtures/base/json.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { type FaultAlteration, faultAlterations } from '../../fixtures/control/client-event.ts';

const SENTENCE_MAX_CHARACTERS = 500;

/** One request and its response. Bodies are parsed only on demand. */
export interface RecordedExchange {
  /** Time of sending in a HAR file, or of the end in a journal, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly method: string;
  /** The path of the URL, percent-encoded as sent; empty if the URL is not an HTTP URL. */
  readonly pathname: string;
  /** The status of the response; 0 if no response arrived. */
  readonly status: number;
  /** Returns a string, or the value of a JSON body or a form; undefined if it was not recorded. */
  readonly requestBody: () => unknown;
  readonly responseBody: () => unknown;
}

/** One request and its response with all recorded details. */
export interface FullExchange extends RecordedExchange {
  /** Place of the exchange in the file, such as `entry 3`. */
  readonly location: string;
  /**
   * Milliseconds since the Unix epoch: `sentMs` is when the request was sent, and `endedMs` is when
   * the response was complete.
   */
  readonly sentMs: number;
  readonly endedMs: number;
  /** The recorded URL: absolute, or a path with its query. */
  readonly url: string;
  readonly requestHeaders: () => RecordedHeaders;
  readonly responseHeaders: () => RecordedHeaders;
  /** The whole body of the response; undefined if it was not recorded unchanged. */
  readonly responseBytes: () => Buffer | undefined;
  /** ID of the device that sent the request, if it was recorded. */
  readonly device?: string;
  /** The part of the response that a planned fault altered, if it was recorded. */
  readonly alteration: FaultAlteration | undefined;
}

/** Header values by name in lower case; repeated headers are joined by commas. */
export type RecordedHeaders = Readonly<Record<string, string>>;

/** The recorded body of a response, with the facts that show whether it is complete. */
interface RecordedBody {
  readonly status: number;
  /** The recorded bytes; undefined if there are none. */
  readonly bytes: Buffer | undefined;
  readonly headers: RecordedHeaders;
  /** Recorded length of the complete body in bytes; undefined if it is unknown. */
  readonly size: unknown;
  /** True if the recorder states that it truncated the body. */
  readonly isTruncated: boolean;
}

/**
 * Returns the body of a response if it was recorded completely; undefined if it is truncated or
 * missing. A body that is shorter than the stated length and is not JSON counts as truncated or
 * masked.
 */
export function wholeBody({
  status,
  bytes,
  headers,
  size,
  isTruncated,
}: RecordedBody): Buffer | undefined {
  if (isTruncated) return undefined;
  if (bytes === undefined || bytes.length === 0) {
    const isEmpty = !(Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding']);
    return status === 204 || (isEmpty && size === 0) ? Buffer.alloc(0) : undefined;
  }
  const isShort = typeof size === 'number' && bytes.length < size;
  return isShort && parsedJson(bytes.toString('utf8')) === undefined ? undefined : bytes;
}

/** Returns headers from a recorded list of names and values; ignores pairs that are not strings. */
export function recordedHeaders(
  pairs: readonly (readonly [name: unknown, value: unknown])[],
): RecordedHeaders {
  const headers = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (typeof name !== 'string' || typeof value !== 'string') continue;
    const key = name.toLowerCase();
    const earlierValue = headers.get(key);
    headers.set(key, earlierValue === undefined ? value : `${earlierValue}, ${value}`);
  }
  return Object.fromEntries(headers);
}

/** The format of a recording. */
export type RecordingFormat = 'har' | 'journal';

/** The file cannot be read as recorded traffic; the message is one sentence. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
  readonly location: string;

  /** @param location the place in the file, such as `line 3`; empty for the whole file */
  constructor(file: string, location: string, what: string) {
    const where = location === '' ? file : `${file}, ${location}`;
    super(printable(`${where}: ${what}`, SENTENCE_MAX_CHARACTERS));
    this.location = location;
  }
}

/** Returns the path of an HTTP or WebSocket URL; empty for other schemes, such as `data:`. */
export function pathnameOf(url: string): string {
  const { protocol, pathname } = new URL(url);
  return /^(https?|wss?):$/.test(protocol) ? pathname : '';
}

/** Returns true for a JSON object, which is not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns what a planned fault altered; undefined for a fault that a recording names only. */
export function alterationBy(fault: unknown): FaultAlteration | undefined {
  return faultAlterations.find((each) => isRecord(fault) && fault.alters === each);
}

/** Formats a wrong value for a message: truncated, and without terminal control characters. */
export function shownValue(value: unknown): string {
  return value === undefined ? 'missing' : `not ${printable(JSON.stringify(value), 60)}`;
}
