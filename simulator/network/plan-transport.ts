/**
 * Creates the transport to the server of a plan, for its devices and for the coordinator of its
 * shards.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { FleetPlan } from '../plan/plan.ts';
import type { Carrier } from './carrier.ts';
import type { ConnectionFiles } from './connections.ts';
import { AnswerError, TimeoutError } from './errors.ts';
import {
  type EndedExchange,
  type ExchangeMeter,
  type ExchangeSubject,
  Transport,
} from './transport.ts';

/** Options of a transport that the plan does not contain. */
export interface PlanTransportOptions {
  readonly clock: Clock;
  readonly observer: ExchangeMeter;
  readonly onExchange?: (ended: EndedExchange) => void;
  /** Returns the error that prevents a request from being sent; undefined when there is none. */
  readonly obstacle?: ((request: ExchangeSubject) => Error | undefined) | undefined;
  readonly connectionsMax: number;
  /** Carries the requests in place of connections. */
  readonly carrier?: Carrier | undefined;
}

/** Creates the transport that the plan describes. The caller must close it. */
export function planTransport(plan: FleetPlan, options: PlanTransportOptions): Transport {
  const { baseUrl, requestTimeLimitMs } = plan;
  return new Transport({ ...options, ...planWiring(plan), baseUrl, requestTimeLimitMs });
}

/** Returns the connection settings of the plan, for requests and for sockets. */
export function planWiring({ tls, sourceAddresses }: FleetPlan): ConnectionFiles {
  return { ...tls, sourceAddresses };
}

/** Time within which a server must show that it implements this API. */
const API_SHOWN_MAX_MS = 5000;
const WORDS_MAX_CHARACTERS = 100;

/**
 * Checks within five seconds that the server may implement this API, with a request that has no
 * token and changes nothing. A redirect or an HTML page shows that it is another server.
 * @throws AnswerError that names the redirect or the page; TimeoutError or another ClientError
 *   without a response; FleetStopped
 */
export async function expectApi(transport: Transport, clock: Clock): Promise<void> {
  const operation = operations['get-configuration'];
  const { method } = operation;
  const subject = { operation: 'reach-server', caller: 'fleet' } as const;
  const target = pathOf(operation);
  const asked = transport.exchange({ ...subject, method, target, headers: {} });
  // The request may fail after the five seconds, when nobody awaits it any more.
  asked.catch(() => undefined);
  const limitMs = Math.min(API_SHOWN_MAX_MS, transport.requestTimeLimitMs);
  let limit: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    const circumstances = { ...subject, elapsedMs: limitMs };
    limit = clock.after(limitMs, () => reject(new TimeoutError(limitMs, circumstances)));
  });
  try {
    const { status, headers, body, elapsedMs } = await Promise.race([asked, late]);
    const met = otherServer(status, headers, body.toString('utf8'));
    if (met !== undefined) throw new AnswerError('other-server', met, { ...subject, elapsedMs });
  } finally {
    limit?.cancel();
  }
}

/**
 * Returns a sentence that says why the response comes from another server and what to do; undefined
 * for a response that this API may give.
 */
function otherServer(
  status: number,
  headers: IncomingHttpHeaders,
  text: string,
): string | undefined {
  const { location } = headers;
  if (status >= 300 && status < 400 && location !== undefined) {
    const to = printable(location, WORDS_MAX_CHARACTERS);
    return `the server answered ${status}, a redirect to ${to}; use the address that it redirects to`;
  }
  const isMarkup = /\b(?:html|xml)\b/i.test(headers['content-type'] ?? '') || /^\s*</.test(text);
  if (!isMarkup) return undefined;
  const [, title = 'without a title'] = /<title>([^<]*)/i.exec(text) ?? [];
  const page = printable(title.trim(), WORDS_MAX_CHARACTERS);
  return `the server answered ${status} with an HTML page (${page}); this is not the device API: check --url`;
}
