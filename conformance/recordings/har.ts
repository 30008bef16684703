/** Reads an HTTP archive, HAR 1.2, as browsers and proxies save it. */

import { isTimestamp, timestampMs } from '../../fixtures/contract/text.ts';
import { valueText } from '../../fixtures/value-text.ts';
import {
  isRecord,
  pathnameOf,
  type RecordedExchange,
  RecordingError,
  shownValue,
} from './recording.ts';

/**
 * The exchanges of an archive: `log.entries[]`, each with `startedDateTime`, `request`, `response`.
 * @throws RecordingError naming the file, the entry and what is wrong with it
 */
export function* harExchanges(file: string, text: string): Generator<RecordedExchange> {
  const entries = entriesOf(file, text);
  for (const [index, entry] of entries.entries()) {
    yield exchangeOf(entry, (what) => new RecordingError(file, `entry ${index + 1}`, what));
  }
}

function entriesOf(file: string, text: string): readonly unknown[] {
  const archive = parsed(file, text);
  const entries = isRecord(archive) && isRecord(archive.log) ? archive.log.entries : undefined;
  if (Array.isArray(entries)) return entries;
  throw new RecordingError(file, '', 'is not a HAR 1.2 archive: it has no list log.entries.');
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RecordingError(file, '', `is cut off or not JSON: ${faultOf(error)}.`);
  }
}

function faultOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function exchangeOf(entry: unknown, fault: (what: string) => Error): RecordedExchange {
  if (!isRecord(entry)) throw fault('is not a JSON object.');
  const { startedDateTime: at, request, response } = entry;
  if (typeof at !== 'string' || !isTimestamp(at)) {
    throw fault(`startedDateTime must be a time such as 2026-01-31T12:00:00Z, ${shownValue(at)}.`);
  }
  if (!isRecord(request)) throw fault(`request must be an object, ${shownValue(request)}.`);
  if (!isRecord(response)) throw fault(`response must be an object, ${shownValue(response)}.`);
  const { method, url } = request;
  if (typeof method !== 'string' || method === '') {
    throw fault(`request.method must be a text, ${shownValue(method)}.`);
  }
  if (typeof url !== 'string' || !URL.canParse(url)) {
    throw fault(`request.url must be an absolute URL, ${shownValue(url)}.`);
  }
  if (!Number.isInteger(response.status)) {
    throw fault(`response.status must be a whole number, ${shownValue(response.status)}.`);
  }
  return {
    atMs: timestampMs(at),
    method: method.toUpperCase(),
    pathname: pathnameOf(url),
    status: Number(response.status),
    requestBody: () => sentBody(request.postData),
    responseBody: () => answeredBody(response.content),
  };
}

/** A form by its parameters where the recorder took it apart, else the text. */
function sentBody(postData: unknown): unknown {
  if (!isRecord(postData)) return undefined;
  const { params, text } = postData;
  if (!Array.isArray(params) || params.length === 0) return text;
  const named = params.filter(isRecord).map(({ name, value }) => [valueText(name), value ?? '']);
  return Object.fromEntries(named);
}

function answeredBody(content: unknown): unknown {
  if (!isRecord(content)) return undefined;
  const { text, encoding } = content;
  const isEncoded = typeof text === 'string' && encoding === 'base64';
  return isEncoded ? Buffer.from(text, 'base64').toString('utf8') : text;
}
