/** The exchanges of a scene as its report and its log contain them: with secrets masked. */
import type { ClientVerdict } from '../../conformance/client-judge/client-verdict.ts';
import type {
  SessionStep,
  ShownExchange,
} from '../../conformance/client-judge/report/client-test-result.ts';
import type { ClientEvent, ClientExchange } from '../../fixtures/control/client-event.ts';
import { maskHeaders, maskText } from '../../server/http/masking.ts';
import { endOfEvent, type ObservedEvents } from './observed-events.ts';

/** Characters of a body that a report contains. */
const BODY_MAX_CHARACTERS = 2000;
const EXCHANGES_MAX = 20;

/** Returns the exchanges of a scene that the violations refer to, in their order. */
export function evidenceOf({
  verdict,
  events,
}: {
  readonly verdict: ClientVerdict | undefined;
  readonly events: ObservedEvents;
}): readonly ShownExchange[] {
  const entries = (verdict?.duties ?? []).flatMap(({ violations }) =>
    violations.flatMap(({ journalEntry, contradicts = 0 }) => [journalEntry, contradicts]),
  );
  return [...new Set(entries)]
    .toSorted((one, other) => one - other)
    .slice(0, EXCHANGES_MAX)
    .flatMap((journalEntry) => {
      const event = events.all[journalEntry - 1]?.event;
      return event?.kind === 'exchange' ? [shownExchange(event)] : [];
    });
}

/**
 * Returns what happened, in the order of time: exchanges and events of WebSockets with their
 * numbers, and what was done to the client.
 */
export function sessionOf(events: readonly ClientEvent[]): readonly SessionStep[] {
  const timed = events.map((event) => ({ event, timeMs: endOfEvent(event) }));
  const startMs = Math.min(...timed.map(({ timeMs }) => timeMs));
  return timed
    .toSorted((one, other) => one.timeMs - other.timeMs)
    .map(({ event, timeMs }) => stepOf(event, Math.round(timeMs - startMs)));
}

/** Returns the last exchange as one line; undefined if there was none. */
export function lastLine({ all }: ObservedEvents): string | undefined {
  const event = all.findLast((seen) => seen.event.kind === 'exchange')?.event;
  return event?.kind === 'exchange' ? requestLine(event) : undefined;
}

function stepOf(event: ClientEvent, atMs: number): SessionStep {
  if (event.kind === 'server') {
    const { event: happened, about = '' } = event;
    return { atMs, by: 'client-test', text: `${happened} ${about}`.trimEnd() };
  }
  const { journalEntry: sequence } = event;
  if (event.kind === 'exchange')
    return {
      sequence,
      atMs,
      by: 'client',
      text: requestText(event),
      response: responseText(event),
    };
  const sender = event.from === 'device' ? 'client' : 'server';
  const code = event.code === undefined ? '' : ` ${event.code}`;
  return {
    sequence,
    atMs,
    by: sender,
    text: `websocket: ${event.event}${code}, from the ${event.from}`,
  };
}

/** Returns an exchange as one line. */
function requestLine(exchange: ClientExchange): string {
  return `${requestText(exchange)} -> ${responseText(exchange)}`;
}

function requestText({ method, url, requestHeaders, requestBody }: ClientExchange): string {
  const { pathname, search } = new URL(maskText(url));
  const range = requestHeaders.find(([name]) => /^range$/i.test(name))?.[1];
  const body = pathname.endsWith('/status') ? textOf(requestBody) : '';
  return [
    method,
    pathname + (/signature=/.test(search) ? '?…' : search),
    ...(range === undefined ? [] : [`(${range})`]),
    ...(body === '' ? [] : [body]),
  ].join(' ');
}

function responseText({ status, faultsAndVariations, isDelivered }: ClientExchange): string {
  return [
    status === 0 ? 'no response' : status,
    ...(status > 0 && !isDelivered ? ['(cut)'] : []),
    ...(faultsAndVariations.length === 0 ? [] : [`[${faultsAndVariations.join(', ')}]`]),
  ].join(' ');
}

function shownExchange(exchange: ClientExchange): ShownExchange {
  const {
    journalEntry: sequence,
    method,
    url,
    status,
    requestHeaders,
    faultsAndVariations,
  } = exchange;
  return {
    sequence,
    method,
    status,
    faultsAndVariations,
    line: requestLine(exchange),
    url: maskText(url),
    requestHeaders: maskHeaders(requestHeaders.flat()),
    requestBody: textOf(exchange.requestBody),
    responseBody: textOf(exchange.responseBody),
  };
}

function textOf(body: Buffer | undefined): string {
  if (body === undefined) return '';
  const text = body.toString('utf8', 0, 4 * BODY_MAX_CHARACTERS).slice(0, BODY_MAX_CHARACTERS);
  return maskText(text);
}
