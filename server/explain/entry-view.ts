/**
 * Shows journal entries as the control API returns them: plain JSON with derived facts and masked
 * secrets.
 */
import type { ResponseOf } from '../../fixtures/control/operations.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import { maskHeaders, maskJson, maskText } from '../http/masking.ts';
import type { Refusal } from '../http/refusal.ts';
import { type BodyView, viewOf } from '../journal/body-view.ts';
import {
  deploymentOf,
  deviceOf,
  operationOf,
  reportIn,
  requestIdOf,
  type TenantRecords,
  userIdOf,
} from '../journal/derived-fields.ts';
import type { JournalEntry } from '../journal/entry.ts';
import type { FrameRecord } from '../journal/frame.ts';
import type { UnparsableRecord } from '../journal/unparsable.ts';
import { noUpdateView } from './no-update-view.ts';
import { problemInRecord } from './request-problem.ts';

/**
 * A journal entry as JSON. `fleetbed calendar` reads `at`, `method`, `path`, `status` and bodies
 * from it.
 */
export type EntryView = ResponseOf<'GET /journal/stream'>;

/** Returns the view of an entry. Headers and bodies are included only if `whole` is true. */
export function entryView(
  entry: JournalEntry,
  tenant: TenantRecords,
  withBodies = false,
): EntryView {
  const { sequence, kind, atMs } = entry;
  const device = deviceOf(entry, tenant);
  return omitUndefined({
    sequence,
    kind,
    at: new Date(atMs).toISOString(),
    requestId: maskText(requestIdOf(entry)),
    operation: operationOf(entry),
    ...factsOf(entry, withBodies),
    device: device && {
      ...device,
      ...(device.identity && { identity: maskText(device.identity) }),
    },
    userId: userIdOf(entry),
  }) as EntryView;
}

function factsOf(entry: JournalEntry, whole: boolean): object {
  if (entry.kind === 'unparsable') return unparsableView(entry);
  if (entry.kind === 'frame') return { ...frameView(entry), ...(whole && frameBodyView(entry)) };
  return { ...exchangeView(entry), ...(whole && exchangeBodiesView(entry)) };
}

function exchangeView(record: ExchangeRecord) {
  const { method, status, refusal, noUpdate, fault, varied } = record;
  return {
    method,
    path: maskText(record.url),
    status,
    tookMs: roundMs(record.tookMs),
    streamedMs: record.isStreamed ? roundMs(record.streamedMs) : undefined,
    deployment: deploymentOf(record),
    report: maskJson(reportIn(record)),
    requestBytes: record.bodyBytes,
    responseBytes: record.responseBytes,
    cut: record.isIncomplete || undefined,
    refusal: refusal && refusalView(record, refusal),
    noUpdate: noUpdate && noUpdateView(noUpdate),
    fault: maskJson(fault),
    varied: varied && varied.length > 0 ? varied : undefined,
  };
}

/** Returns what was wrong. Its cause is diagnosed only for an explanation. */
function refusalView(record: ExchangeRecord, refusal: Refusal) {
  const { status, error, detail } = refusal;
  return {
    status,
    error: maskText(error),
    ...(maskJson({ ...problemInRecord(record, refusal), rule: detail?.rule }) as object),
  };
}

function exchangeBodiesView(record: ExchangeRecord) {
  const { headers, body, bodyBytes, responseHeaders, responseBody, responseBytes } = record;
  return {
    requestHeaders: maskHeaders(headers),
    ...bodyMembers('request', viewOf(headers, body, bodyBytes)),
    responseHeaders: maskHeaders(responseHeaders),
    ...bodyMembers('response', viewOf(responseHeaders, responseBody, responseBytes)),
  };
}

function bodyMembers(side: 'request' | 'response', view: BodyView | undefined) {
  if (!view) return {};
  return {
    [`${side}Body`]: view.value,
    ...(view.encoding === 'base64' && { [`${side}BodyEncoding`]: view.encoding }),
    ...(view.cutAt !== undefined && { [`${side}BodyCutAt`]: view.cutAt }),
  };
}

function frameView({ origin, from, opcode, code, bytes, message, payload, problem }: FrameRecord) {
  const reason = opcode === 'close' ? payload.toString() : '';
  return {
    socket: origin.socket,
    from,
    opcode,
    bytes,
    code,
    proto: message?.proto,
    typ: message?.typ === undefined ? undefined : maskText(message.typ),
    sid: message?.sid === undefined ? undefined : maskText(message.sid),
    reason: reason === '' ? undefined : maskText(reason),
    problem: problem === undefined ? undefined : maskText(problem),
  };
}

function frameBodyView(frame: FrameRecord) {
  const { message, payload, bytes } = frame;
  const isCut = bytes > payload.length;
  const content = message && !isCut ? Buffer.from(message.body ?? []) : payload;
  const view = viewOf([], content, isCut ? bytes : content.length);
  return {
    props: message?.props && maskJson(message.props),
    body: view?.value,
    bodyEncoding: view?.encoding === 'base64' ? view.encoding : undefined,
    bodyCutAt: view?.cutAt,
  };
}

function unparsableView({ parseFailure, status, line, bytes }: UnparsableRecord) {
  const { cause, error } = parseFailure;
  return {
    status,
    bytes,
    line: line === undefined ? undefined : maskText(line),
    cause,
    refusal: { status, error },
  };
}

/** Rounds milliseconds to hundredths, because further digits are noise. */
function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

/** Removes members that are undefined. */
function omitUndefined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
