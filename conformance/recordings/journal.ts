/**
 * Reads a journal: NDJSON, one exchange a line, in this shape:
 *
 *     {"at": "2026-01-31T12:00:00Z", "method": "GET", "url": "https://…", "status": 200}
 *
 * `at` is an RFC 3339 time; `path`, with or without a query, may stand in place of `url`; `status`
 * is 0 where no answer came. `requestBody` and `responseBody` may follow: a JSON body as the value
 * that it is, a form as an object of its text fields, anything else as a text. Other keys are left
 * alone, and so are empty lines, and lines of a `kind` other than `exchange`, as those of frames.
 */
import { isTimestamp, timestampMs } from '../../fixtures/contract/text.ts';
import {
  isRecord,
  pathnameOf,
  type RecordedExchange,
  RecordingError,
  shownValue,
} from './recording.ts';

/**
 * The exchanges of a journal, line by line as they come.
 * @throws RecordingError naming the file, the line and what is wrong with it
 */
export async function* journalExchanges(
  file: string,
  lines: AsyncIterable<string>,
): AsyncGenerator<RecordedExchange> {
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    const place = `line ${number}`;
    const exchange = exchangeOf(line, (what) => new RecordingError(file, place, what));
    if (exchange) yield exchange;
  }
}

function exchangeOf(line: string, fault: (what: string) => Error): RecordedExchange | undefined {
  const value = parsed(line);
  if (!isRecord(value)) {
    throw fault(
      'is not a JSON object; a journal has one on each line, a HAR file begins with {"log":.',
    );
  }
  const { at, method, status, requestBody, responseBody, kind = 'exchange' } = value;
  if (kind !== 'exchange') return undefined;
  if (typeof at !== 'string' || !isTimestamp(at)) {
    throw fault(`"at" must be a time such as 2026-01-31T12:00:00Z, ${shownValue(at)}.`);
  }
  if (typeof method !== 'string' || method === '') {
    throw fault(`"method" must be a text, ${shownValue(method)}.`);
  }
  if (typeof status !== 'number' || !Number.isInteger(status)) {
    throw fault(`"status" must be a whole number, ${shownValue(status)}.`);
  }
  const pathname = placeOf(value);
  if (pathname === undefined) {
    throw fault('needs "url" as an absolute URL, or "path" beginning with a slash.');
  }
  return {
    atMs: timestampMs(at),
    method: method.toUpperCase(),
    pathname,
    status,
    requestBody: () => requestBody,
    responseBody: () => responseBody,
  };
}

/** Undefined is no JSON value, so that it can stand for what is none. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function placeOf({ url, path }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof url === 'string' && URL.canParse(url)) return pathnameOf(url);
  if (url !== undefined || typeof path !== 'string' || !path.startsWith('/')) return undefined;
  return path.replace(/[?#].*$/s, '');
}
