/** Reads an HTTP archive (HAR 1.2), which browsers and proxies can save. */
import { valueText } from '../../fixtures/base/value-text.ts';
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

/**
 * Yields the exchanges of an archive: `log.entries[]`, each with `startedDateTime`, `request` and
 * `response`, and `_fault` in an archive of Fleetbed.
 * @throws RecordingError with the file, the entry and the problem
 */
export function* harExchanges(file: string, text: string): Generator<FullExchange> {
  const entries = entriesOf(file, text);
  for (const [index, entry] of entries.entries()) {
    const location = `entry ${index + 1}`;
    yield exchangeOf(entry, location, (what) => new RecordingError(file, location, what));
  }
}

function entriesOf(file: string, text: string): readonly unknown[] {
  const archive = parseHarJson(file, text);
  const entries = isRecord(archive) && isRecord(archive.log) ? archive.log.entries : undefined;
  if (Array.isArray(entries)) return entries;
  throw new RecordingError(file, '', 'is not a HAR 1.2 archive: it has no array log.entries.');
}

function parseHarJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RecordingError(file, '', `is cut off or not JSON: ${messageOf(error)}.`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function exchangeOf(
  entry: unknown,
  location: string,
  recordingError: (what: string) => Error,
): FullExchange {
  if (!isRecord(entry)) throw recordingError('is not a JSON object.');
  const { startedDateTime: at, time, request, response } = entry;
  if (typeof at !== 'string' || !isTimestamp(at)) {
    throw recordingError(
      `startedDateTime must be a time such as 2026-01-31T12:00:00Z, ${shownValue(at)}.`,
    );
  }
  if (!isRecord(request))
    throw recordingError(`request must be an object, ${shownValue(request)}.`);
  if (!isRecord(response))
    throw recordingError(`response must be an object, ${shownValue(response)}.`);
  const { method, url } = request;
  if (typeof method !== 'string' || method === '') {
    throw recordingError(`request.method must be a string, ${shownValue(method)}.`);
  }
  if (typeof url !== 'string' || !URL.canParse(url)) {
    throw recordingError(`request.url must be an absolute URL, ${shownValue(url)}.`);
  }
  if (!Number.isInteger(response.status)) {
    throw recordingError(`response.status must be an integer, ${shownValue(response.status)}.`);
  }
  const sentMs = timestampMs(at);
  const tookMs = typeof time === 'number' && time > 0 ? time : 0;
  return {
    location,
    atMs: sentMs,
    sentMs,
    endedMs: sentMs + tookMs,
    method: method.toUpperCase(),
    url,
    pathname: pathnameOf(url),
    status: Number(response.status),
    requestBody: () => sentBody(request.postData),
    responseBody: () => answeredBytes(response.content)?.toString('utf8'),
    requestHeaders: () => headersIn(request),
    responseHeaders: () => headersIn(response),
    alteration: alterationBy(entry._fault),
    responseBytes: () => {
      const { size, comment } = isRecord(response.content) ? response.content : {};
      return wholeBody({
        status: Number(response.status),
        bytes: answeredBytes(response.content),
        headers: headersIn(response),
        size,
        isTruncated: typeof comment === 'string' && comment.startsWith('cut after'),
      });
    },
  };
}

/** Returns the headers without Content-Encoding, since a HAR file contains decoded bodies. */
function headersIn({ headers }: Readonly<Record<string, unknown>>): RecordedHeaders {
  const pairs = Array.isArray(headers) ? headers.filter(isRecord) : [];
  const { 'content-encoding': _, ...rest } = recordedHeaders(
    pairs.map(({ name, value }) => [name, value]),
  );
  return rest;
}

/** Returns a form as an object if the recorder parsed it; otherwise the text of the body. */
function sentBody(postData: unknown): unknown {
  if (!isRecord(postData)) return undefined;
  const { params, text } = postData;
  if (!Array.isArray(params) || params.length === 0) return text;
  const pairs = params.filter(isRecord).map(({ name, value }) => [valueText(name), value ?? '']);
  return Object.fromEntries(pairs);
}

function answeredBytes(content: unknown): Buffer | undefined {
  if (!isRecord(content) || typeof content.text !== 'string') return undefined;
  return Buffer.from(content.text, content.encoding === 'base64' ? 'base64' : 'utf8');
}
