/** Recorded traffic, whatever file it came from, and what is wrong with a file that is none. */
import { parsedJson } from '../../fixtures/json.ts';
import { printable } from '../../fixtures/printable.ts';

const SENTENCE_MAX_CHARACTERS = 500;

/** One request and its answer. Bodies are read only where a field may be in them. */
export interface RecordedExchange {
  /** When it was sent, milliseconds since the Unix epoch; in a journal, when it had ended. */
  readonly atMs: number;
  readonly method: string;
  /** The URL's path, percent-encoded as sent; empty for what is no HTTP. */
  readonly pathname: string;
  /** 0 where no answer came. */
  readonly status: number;
  /** A text, or the value that a JSON body or a form is; undefined where it was not recorded. */
  readonly requestBody: () => unknown;
  readonly responseBody: () => unknown;
}

/** The same with all that was recorded of it. */
export interface FullExchange extends RecordedExchange {
  /** Its place in the file, such as `entry 3`. */
  readonly place: string;
  /** Milliseconds since the Unix epoch: it was sent, its answer was whole. */
  readonly sentMs: number;
  readonly endedMs: number;
  /** As recorded: an absolute URL, or a path with its query. */
  readonly url: string;
  readonly requestHeaders: () => RecordedHeaders;
  readonly responseHeaders: () => RecordedHeaders;
  /** The whole body of the answer; undefined if it was not recorded unchanged. */
  readonly responseBytes: () => Buffer | undefined;
  /** Id of the device that sent it, where the recorder knew. */
  readonly device?: string;
}

/** Headers by their names in lower case; a repeated one is joined by commas. */
export type RecordedHeaders = Readonly<Record<string, string>>;

/** What a recorder says of an answer's body. */
interface RecordedBody {
  readonly status: number;
  /** The bytes that it wrote down; undefined where there are none. */
  readonly bytes: Buffer | undefined;
  readonly headers: RecordedHeaders;
  /** Length of the whole in bytes; undefined where it does not say. */
  readonly size: unknown;
  /** Whether it says that it left a part out. */
  readonly isCut: boolean;
}

/**
 * The body of an answer if it is there whole; undefined where it is cut or was left out. One that is
 * shorter than it was, and no JSON, may be cut too, or masked.
 */
export function wholeBody({
  status,
  bytes,
  headers,
  size,
  isCut,
}: RecordedBody): Buffer | undefined {
  if (isCut) return undefined;
  if (bytes === undefined || bytes.length === 0) {
    const isEmpty = !(Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding']);
    return status === 204 || (isEmpty && size === 0) ? Buffer.alloc(0) : undefined;
  }
  const isShort = typeof size === 'number' && bytes.length < size;
  return isShort && parsedJson(bytes.toString('utf8')) === undefined ? undefined : bytes;
}

/** Headers from their names and values, as a recorder lists them. */
export function recordedHeaders(
  pairs: readonly (readonly [name: unknown, value: unknown])[],
): RecordedHeaders {
  const headers = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (typeof name !== 'string' || typeof value !== 'string') continue;
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

/** How a recording is written down. */
export type RecordingForm = 'har' | 'journal';

/** A file that cannot be read as recorded traffic, in one sentence. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
  readonly place: string;

  /** @param place in the file, such as `line 3`; empty for the whole of it */
  constructor(file: string, place: string, what: string) {
    const where = place === '' ? file : `${file}, ${place}`;
    super(printable(`${where}: ${what}`, SENTENCE_MAX_CHARACTERS));
    this.place = place;
  }
}

/** The path of an absolute URL; pages load `data:` and the like too, whose paths mean nothing. */
export function pathnameOf(url: string): string {
  const { protocol, pathname } = new URL(url);
  return /^(https?|wss?):$/.test(protocol) ? pathname : '';
}

/** A value of JSON that is an object, and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A wrong value as a sentence shows it: short, and unable to steer a terminal. */
export function shownValue(value: unknown): string {
  return value === undefined ? 'missing' : `not ${printable(JSON.stringify(value), 60)}`;
}
