/** Turns what the server recorded into the events that a client judge is shown. */
import { operationsById } from '../../fixtures/contract/operation-ids.ts';
import type {
  ClientExchange,
  ClientSocketEvent,
  HeaderList,
  ServerEvent,
} from '../../fixtures/control/client-event.ts';
import type { ExchangeRecord, FlatHeaders } from '../http/exchange-record.ts';
import { deploymentOf, jsonObject } from '../journal/derived-fields.ts';
import type { FrameRecord, Opcode } from '../journal/frame.ts';

/** Actions of planned faults that keep a client from reading a whole response. */
const cuttingActions: ReadonlySet<string> = new Set([
  'reset',
  'half-close',
  'truncated',
  'over-long',
  'malformed-chunks',
  'stall',
]);

/** Facts about an exchange besides its record. */
export interface ExchangeFacts {
  readonly journalEntry: number;
  readonly client: string;
  /** URL of the API, for a request without a Host header. */
  readonly baseUrl: string;
  /** Whole bodies; undefined for one that was not kept whole. */
  readonly body: Buffer | undefined;
  readonly responseBody: string | Buffer | undefined;
  /** Name of a planned fault that does not exempt the client. */
  readonly ignoredFault?: string;
}

/** Returns the exchange of a record. Call it in a later iteration: faults are added after it. */
export function exchangeEvent(record: ExchangeRecord, facts: ExchangeFacts): ClientExchange {
  const { method, status, responseBytes, isStreamed } = record;
  const { startedMs, atMs, fault, varied = [] } = record;
  const { journalEntry, client, baseUrl, body, responseBody, ignoredFault } = facts;
  const requestHeaders = pairsOf(record.headers);
  const response = isStreamed || responseBody === undefined ? undefined : Buffer.from(responseBody);
  const isIncomplete =
    record.isIncomplete || (fault !== undefined && cuttingActions.has(fault.act));
  const shownFault = fault?.name === ignoredFault ? undefined : fault;
  const faultNames = shownFault ? [shownFault.name, shownFault.act] : [];
  const host = requestHeaders.find(([name]) => /^host$/i.test(name))?.[1];
  const scheme = URL.canParse(baseUrl) ? new URL(baseUrl).protocol : 'http:';
  const url = `${scheme}//${host}${record.url}`;
  return {
    kind: 'exchange',
    journalEntry,
    client,
    method,
    status,
    url: host !== undefined && URL.canParse(url) ? url : baseUrl,
    requestHeaders,
    requestBody: body && Buffer.from(body),
    responseHeaders: responseHeadersOf(record),
    responseBody: response,
    responseBytes: response?.length ?? responseBytes,
    isDelivered: !isIncomplete && status > 0,
    sentMs: startedMs,
    endedMs: endedMsOf(record),
    serverNowMs: atMs,
    faultsAndVariations: [...faultNames, ...varied.map(({ id }) => id)],
    alteration: shownFault?.alters,
    connection: '',
  };
}

/** Returns when the response was complete, on the server's monotonic clock. */
export function endedMsOf({ startedMs, isStreamed, streamedMs, tookMs }: ExchangeRecord): number {
  return startedMs + (isStreamed ? streamedMs : tookMs);
}

/** Returns the headers of the response, with those that Node adds when it sends them. */
function responseHeadersOf({ responseHeaders, atMs, varied = [] }: ExchangeRecord): HeaderList {
  const pairs = pairsOf(responseHeaders);
  const has = (name: string): boolean => pairs.some(([known]) => known.toLowerCase() === name);
  const isChunked = varied.some(({ id }) => id === 'chunked') && !has('content-length');
  return [
    ...pairs,
    ...(has('date') ? [] : [['Date', new Date(atMs).toUTCString()] as const]),
    ...(isChunked && !has('transfer-encoding') ? [['Transfer-Encoding', 'chunked'] as const] : []),
  ];
}

function pairsOf(flat: FlatHeaders): HeaderList {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    for (const value of [flat[at + 1] ?? ''].flat()) pairs.push([String(flat[at]), value]);
  }
  return pairs;
}

const socketEvents: Readonly<Record<Opcode, ClientSocketEvent['event']>> = {
  message: 'message',
  ping: 'ping',
  pong: 'pong',
  close: 'closed',
};

/** Returns the event of a frame on the WebSocket of a device. @param atMs a monotonic time */
export function socketEvent(frame: FrameRecord, client: string, atMs: number): ClientSocketEvent {
  const { sequence, origin, opcode, from, code, payload, bytes } = frame;
  const isWhole = payload.length === bytes;
  return {
    kind: 'socket',
    journalEntry: sequence,
    client,
    socket: origin.requestId,
    atMs,
    event: socketEvents[opcode],
    from: from === 'client' ? 'device' : 'server',
    ...(code !== undefined && { code }),
    ...(opcode !== 'close' && isWhole && { payload }),
  };
}

/**
 * Returns the event of a user's request that changes devices; undefined for a request that changes
 * none.
 */
export function eventOfUser(
  record: ExchangeRecord,
): Pick<ServerEvent, 'event' | 'client' | 'about'> | undefined {
  const { operation, status } = record;
  if (status < 200 || status >= 300) return undefined;
  const deploymentId = deploymentOf(record);
  if (operation === 'set-auth-set-status') {
    const { status: decided } = jsonObject(record.body);
    if (decided !== 'accepted' && decided !== 'rejected') return undefined;
    return { event: decided, ...clientMember(parameterIn(record, 'id')) };
  }
  if (operation === 'decommission-device')
    return { event: 'decommissioned', ...clientMember(parameterIn(record, 'id')) };
  if (operation === 'abort-deployment')
    return {
      event: 'deployment-aborted',
      ...(deploymentId !== undefined && { about: deploymentId }),
    };
  if (operation === 'abort-device-deployments')
    return { event: 'deployment-aborted', ...clientMember(parameterIn(record, 'id')) };
  const isNew = operationsById.get(operation ?? '')?.deploymentRole === 'creates';
  if (!isNew && operation !== 'create-group-deployment') return undefined;
  return { event: 'deployed', ...(deploymentId !== undefined && { about: deploymentId }) };
}

function clientMember(client: string | undefined): Pick<ServerEvent, 'client'> {
  return client === undefined ? {} : { client };
}

/** Returns a parameter of the path of a request. */
function parameterIn({ operation, url }: ExchangeRecord, name: string): string | undefined {
  const at =
    operationsById
      .get(operation ?? '')
      ?.path.split('/')
      .indexOf(`{${name}}`) ?? -1;
  // Variations show IDs in another letter case.
  return at < 0 ? undefined : url.replace(/\?.*$/s, '').split('/')[at]?.toLowerCase();
}
