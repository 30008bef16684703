/**
 * Reads a journal: NDJSON, one exchange a line, or a JSON list of them, in this shape:
 *
 *     {"at": "2026-01-31T12:00:00Z", "method": "GET", "url": "https://…", "status": 200}
 *
 * `at` is an RFC 3339 time. `path`, with or without a query, can replace `url`. `status` is 0 if no
 * response arrived. `requestBody` and `responseBody` are optional: a JSON body is its value, a form
 * is an object of its text fields, and any other body is a string. The journal of Fleetbed's server
 * has further optional keys: `requestHeaders` and `responseHeaders` are lists of names and values;
 * `tookMs` and `streamedMs` are durations that end at `at`; `device.id` is the sender; and
 * `responseBytes`, `responseBodyEncoding` and `responseBodyCutAt` describe a body that is encoded or
 * truncated; `fault.alters` is what a planned fault altered. Other keys, empty lines, and entries
 * with a `kind` other than `exchange` (such as frames) are ignored.
 */
import { parsedJson } from '../../fixtures/base/json.ts';
import { isTimestamp, timestampMs } from '../../fixtures/contract/text.ts';
import {
  alterationBy,
  type FullExchange,
  isRecord,
  pathnameOf,
  type RecordedHeaders,
  RecordingError,
  recordedHeaders,
  shownValue,
  wholeBody,
} from './recording.ts';

/** Called for each entry that is not an exchange, with its place in the file and its kind. */
export type SkippedEntry = (location: string, kind: string) => void;

/**
 * Yields the exchanges of a journal, line by line.
 * @throws RecordingError with the file, the line and the problem
 */
export async function* journalExchanges(
  file: string,
  lines: AsyncIterable<string>,
  skipped?: SkippedEntry,
): AsyncGenerator<FullExchange> {
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    const location = `line ${number}`;
    const exchange = exchangeIn(file, location, parsedJson(line), skipped);
    if (exchange) yield exchange;
  }
}

/**
 * Yields the exchanges of a journal that is one JSON list.
 * @throws RecordingError with the file, the entry and the problem
 */
export function* listedExchanges(
  file: string,
  text: string,
  skipped?: SkippedEntry,
): Generator<FullExchange> {
  const entries = parsedJson(text);
  if (!Array.isArray(entries)) throw new RecordingError(file, '', 'is cut off or not JSON.');
  for (const [index, entry] of entries.entries()) {
    const exchange = exchangeIn(file, `entry ${index + 1}`, entry, skipped);
    if (exchange) yield exchange;
  }
}

/**
 * Returns the exchange in one entry of a journal; undefined for an entry of another kind.
 * @throws RecordingError with the file, the place and the problem
 */
export function exchangeIn(
  file: string,
  location: string,
  value: unknown,
  skipped?: SkippedEntry,
): FullExchange | undefined {
  const recordingError = (what: string) => new RecordingError(file, location, what);
  if (!isRecord(value)) {
    throw recordingError(
      'is not a JSON object; a journal has one on each line, a HAR file starts with {"log":.',
    );
  }
  const { at, method, status, requestBody, responseBody, kind = 'exchange' } = value;
  if (kind !== 'exchange') {
    skipped?.(location, String(kind));
    return undefined;
  }
  if (typeof at !== 'string' || !isTimestamp(at)) {
    throw recordingError(`"at" must be a time such as 2026-01-31T12:00:00Z, ${shownValue(at)}.`);
  }
  if (typeof method !== 'string' || method === '') {
    throw recordingError(`"method" must be a string, ${shownValue(method)}.`);
  }
  if (typeof status !== 'number' || !Number.isInteger(status)) {
    throw recordingError(`"status" must be an integer, ${shownValue(status)}.`);
  }
  const url = targetOf(value);
  if (url === undefined) {
    throw recordingError('needs "url" as an absolute URL, or "path" starting with a slash.');
  }
  const endedMs = timestampMs(at);
  const { id } = isRecord(value.device) ? value.device : {};
  return {
    location,
    atMs: endedMs,
    sentMs: endedMs - durationMs(value),
    endedMs,
    method: method.toUpperCase(),
    url,
    pathname: url.startsWith('/') ? url.replace(/[?#].*$/s, '') : pathnameOf(url),
    status,
    requestBody: () => requestBody,
    responseBody: () => responseBody,
    requestHeaders: () => headersIn(value.requestHeaders),
    responseHeaders: () => headersIn(value.responseHeaders),
    responseBytes: () => responseBytes(value),
    alteration: alterationBy(value.fault),
    ...(typeof id === 'string' && { device: id }),
  };
}

function targetOf({ url, path }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof url === 'string' && URL.canParse(url)) return url;
  if (url !== undefined || typeof path !== 'string' || !path.startsWith('/')) return undefined;
  return path;
}

function durationMs({ tookMs, streamedMs }: Readonly<Record<string, unknown>>): number {
  const durations = [tookMs, streamedMs].filter((each) => typeof each === 'number');
  return Math.max(0, ...durations);
}

function headersIn(pairs: unknown): RecordedHeaders {
  return recordedHeaders(
    Array.isArray(pairs) ? pairs.filter(Array.isArray).map(([name, value]) => [name, value]) : [],
  );
}

/**
 * Returns the bytes of the response's body; undefined if they are unknown. A string with a JSON
 * media type is ambiguous: it may be a JSON string, or the text of a body that is not JSON.
 */
function responseBytes(value: Readonly<Record<string, unknown>>): Buffer | undefined {
  const { responseBody: body, responseBodyEncoding: encoding, responseBodyCutAt, status } = value;
  const headers = headersIn(value.responseHeaders);
  const isText = typeof body === 'string';
  if (isText && encoding !== 'base64' && /json/i.test(headers['content-type'] ?? ''))
    return undefined;
  const text = isText ? body : JSON.stringify(body);
  return wholeBody({
    status: Number(status),
    bytes:
      text === undefined ? undefined : Buffer.from(text, encoding === 'base64' ? encoding : 'utf8'),
    headers,
    size: value.responseBytes,
    isTruncated: responseBodyCutAt !== undefined,
  });
}
