/**
 * Exports a journal as an HTTP archive (HAR 1.2) with masked secrets. Frames belong to the entry of
 * their handshake.
 */
import type { ExchangeRecord } from '../http/exchange-record.ts';
import { maskHeaders, maskJson, maskText } from '../http/masking.ts';
import { type BodyView, headerOf, viewOf } from './body-view.ts';
import type { JournalEntry } from './entry.ts';
import type { FrameRecord } from './frame.ts';

const head =
  '{"log":{"version":"1.2","creator":{"name":"fleetbed","version":"1"},"pages":[],"entries":[';

/** Yields the archive in pieces, one per exchange or frame. Joined, they are one JSON text. */
export function* harOf(entries: readonly JournalEntry[]): Generator<string> {
  const frames = new Map<string, FrameRecord[]>();
  for (const entry of entries) {
    if (entry.kind !== 'frame') continue;
    const { requestId } = entry.origin;
    const ownFrames = frames.get(requestId);
    if (ownFrames) ownFrames.push(entry);
    else frames.set(requestId, [entry]);
  }
  yield head;
  let separator = '';
  for (const entry of entries) {
    if (entry.kind !== 'exchange') continue;
    const ownFrames = entry.status === 101 ? frames.get(entry.requestId) : undefined;
    const text = JSON.stringify(harEntry(entry));
    yield separator + (ownFrames ? text.slice(0, -1) : text);
    if (ownFrames) yield* messagesOf(ownFrames);
    separator = ',\n';
  }
  yield ']}}\n';
}

/** Yields the last member of an entry, and the end of the entry. */
function* messagesOf(frames: readonly FrameRecord[]): Generator<string> {
  yield ',"_webSocketMessages":[';
  let separator = '';
  for (const frame of frames) {
    if (frame.opcode !== 'message') continue;
    yield separator + JSON.stringify(harMessage(frame));
    separator = ',';
  }
  yield ']}';
}

function harEntry(record: ExchangeRecord) {
  const { atMs, tookMs, streamedMs, fault } = record;
  const receiveMs = Math.max(0, streamedMs - tookMs);
  return {
    startedDateTime: new Date(atMs - tookMs - receiveMs).toISOString(),
    time: tookMs + receiveMs,
    request: harRequest(record),
    response: harResponse(record),
    cache: {},
    timings: { send: 0, wait: tookMs, receive: receiveMs },
    comment: maskText(`${record.operation ?? 'no operation'}, request ${record.requestId}`),
    ...(fault && { _fault: maskJson(fault) }),
  };
}

function harRequest(record: ExchangeRecord) {
  const { method, headers, body, bodyBytes } = record;
  const url = absolute(record);
  const view = viewOf(headers, body, bodyBytes);
  const mimeType = maskText(headerOf(headers, 'content-type'));
  return {
    method,
    url,
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: harHeaders(headers),
    queryString: [...new URL(url).searchParams].map(([name, value]) => ({ name, value })),
    headersSize: -1,
    bodySize: bodyBytes,
    ...(view && { postData: { mimeType, text: textOf(view), ...cutComment(view) } }),
  };
}

function harResponse(record: ExchangeRecord) {
  const { status, responseHeaders, responseBody, responseBytes } = record;
  const view = viewOf(responseHeaders, responseBody, responseBytes);
  const encoding = view?.encoding === 'base64' ? { encoding: 'base64' } : {};
  return {
    status,
    statusText: '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: harHeaders(responseHeaders),
    content: {
      size: responseBytes,
      mimeType: maskText(headerOf(responseHeaders, 'content-type')),
      ...(view && { text: textOf(view), ...encoding, ...cutComment(view) }),
    },
    redirectURL: maskText(headerOf(responseHeaders, 'location')),
    headersSize: -1,
    bodySize: responseBytes,
    ...(record.isIncomplete && { comment: 'the connection ended before the end' }),
  };
}

/**
 * Returns the absolute URL with the Host of the request. A target that is not a valid URL becomes
 * the fragment.
 */
function absolute({ headers, url }: ExchangeRecord): string {
  const target = maskText(url);
  const namedUrl = `http://${headerOf(headers, 'host')}${target}`;
  if (URL.canParse(namedUrl) && headerOf(headers, 'host') !== '') return namedUrl;
  const localUrl = `http://localhost${target}`;
  return URL.canParse(localUrl) ? localUrl : `http://localhost/#${encodeURIComponent(target)}`;
}

function harHeaders(flat: readonly (string | readonly string[])[]) {
  return maskHeaders(flat).map(([name, value]) => ({ name, value }));
}

function textOf({ value, encoding }: BodyView): string {
  return encoding === 'json' ? JSON.stringify(value) : String(value);
}

function cutComment({ cutAt }: BodyView) {
  return cutAt === undefined ? {} : { comment: `cut after ${cutAt} bytes` };
}

/**
 * Returns a message in the format that browsers write: from the client's side, with binary data in
 * base64.
 */
function harMessage(frame: FrameRecord) {
  const view = viewOf([['content-type', '']], frame.payload, frame.bytes);
  const data =
    view?.encoding === 'base64'
      ? view.value
      : Buffer.from(view ? textOf(view) : '').toString('base64');
  return {
    type: frame.from === 'client' ? 'send' : 'receive',
    time: frame.atMs / 1000,
    opcode: 2,
    data,
  };
}
