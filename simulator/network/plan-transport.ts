/**
 * Creates the transport to the server of a plan, for its devices and for the coordinator of its
 * shards.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { redirectRemedy } from '../../fixtures/base/redirect.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { FleetPlan } from '../plan/plan.ts';
import type { ConnectionOptions } from './connections.ts';
import { type ErrorContext, ResponseError, TimeoutError } from './errors.ts';
import type { InProcessTransport } from './in-process-transport.ts';
import {
  type EndedExchange,
  type ExchangeMeter,
  type ExchangeSubject,
  type HttpResponse,
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
  readonly inProcess?: InProcessTransport | undefined;
}

/** Creates the transport that the plan describes. The caller must close it. */
export function planTransport(plan: FleetPlan, options: PlanTransportOptions): Transport {
  const { baseUrl, requestTimeLimitMs } = plan;
  return new Transport({ ...options, ...connectionOptions(plan), baseUrl, requestTimeLimitMs });
}

/** Returns the connection settings of the plan, for requests and for sockets. */
export function connectionOptions({ tls, sourceAddresses }: FleetPlan): ConnectionOptions {
  return { ...tls, sourceAddresses };
}

/** Time within which a server must show that it implements this API. */
const API_SHOWN_MAX_MS = 5000;
const WORDS_MAX_CHARACTERS = 100;

/** Requests that every server of this API refuses without a token; some servers lack the first. */
const probes = [operations['get-configuration'], operations['get-next-deployment']];
const notFound: readonly number[] = [404, 405];
const gatewayErrors: readonly number[] = [502, 503, 504];
const otherApi = 'this is not the device API: check --url';

/**
 * Checks within five seconds that the server may implement this API, with requests that have no
 * token and change nothing. A redirect, an HTML page, a success, or a path that does not exist
 * shows that it is another server.
 * @throws ResponseError that says what was met; TimeoutError or another ClientError without a
 *   response; FleetStopped
 */
export async function expectApi(
  transport: Transport,
  { clock, baseUrl }: { readonly clock: Clock; readonly baseUrl: string },
): Promise<void> {
  const otherServer = otherServerAt(transport, baseUrl);
  // The request may fail after the five seconds, when nobody awaits it any more.
  otherServer.catch(() => undefined);
  const limitMs = Math.min(API_SHOWN_MAX_MS, transport.requestTimeLimitMs);
  let limit: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    limit = clock.after(limitMs, () => reject(new TimeoutError(limitMs, subjectFor(limitMs))));
  });
  try {
    const foundServer = await Promise.race([otherServer, late]);
    if (foundServer)
      throw new ResponseError(
        'other-server',
        foundServer.sentence,
        subjectFor(foundServer.elapsedMs),
      );
  } finally {
    limit?.cancel();
  }
}

const subject = { operation: 'reach-server', caller: 'fleet' } as const;

function subjectFor(elapsedMs: number): ErrorContext {
  return { ...subject, elapsedMs };
}

/** A response that shows another server. */
interface OtherServer {
  readonly sentence: string;
  readonly elapsedMs: number;
}

/** Returns what shows that another server answers; undefined when this API may answer. */
async function otherServerAt(
  transport: Transport,
  baseUrl: string,
): Promise<OtherServer | undefined> {
  let foundServer: OtherServer | undefined;
  for (const operation of probes) {
    const path = pathOf(operation);
    const request = { ...subject, method: operation.method, target: path, headers: {} };
    const response = await transport.exchange(request);
    const sentence = otherServer(response, { baseUrl, path });
    foundServer = sentence === undefined ? undefined : { sentence, elapsedMs: response.elapsedMs };
    if (!notFound.includes(response.status)) return foundServer;
  }
  return foundServer;
}

/**
 * Returns a sentence that says why the response comes from another server and what to do; undefined
 * for a response that this API may give.
 */
function otherServer(
  { status, headers, body }: HttpResponse,
  requested: { readonly baseUrl: string; readonly path: string },
): string | undefined {
  const text = body.toString('utf8');
  const { location } = headers;
  const sentence = `the server answered with ${status}`;
  if (status >= 300 && status < 400 && location !== undefined) {
    const to = printable(location, WORDS_MAX_CHARACTERS);
    return `${sentence}, a redirect to ${to}; ${redirectRemedy(requested, location)}`;
  }
  const isMarkup = /\b(?:html|xml)\b/i.test(headers['content-type'] ?? '') || /^\s*</.test(text);
  if (!isMarkup) {
    if (notFound.includes(status)) return `${sentence} for ${requested.path}; ${otherApi}`;
    return status < 300 ? `${sentence} to a request without a token; ${otherApi}` : undefined;
  }
  const [, title = 'without a title'] = /<title>([^<]*)/i.exec(text) ?? [];
  const page = printable(title.trim(), WORDS_MAX_CHARACTERS);
  const isDown = gatewayErrors.includes(status);
  const remedy = isDown ? 'wait until the server is up, or check --url' : otherApi;
  return `${sentence} and an HTML page (${page}); ${remedy}`;
}
