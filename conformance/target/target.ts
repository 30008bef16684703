/**
 * The server under test: sends requests, limits their time and size, and records each exchange.
 * This module does not know the operations of the API and does not judge responses.
 */
import { Readable } from 'node:stream';
import { Agent, type Dispatcher, request as send } from 'undici';
import type { Clock } from '../../fixtures/base/clock.ts';
import { ExchangeList, exchangeOf, type Headers, type TargetExchange } from './exchange.ts';
import { describeValue, NotObservable } from './expectations.ts';
import { Pace } from './pace.ts';
import { RawConnection, type RawRequestOptions, type RawResponse } from './raw-connection.ts';
import { RequestTotals } from './request-totals.ts';
import type { HttpResponse, UpgradeResponse } from './response.ts';
import { type AnsweredHeaders, readResponse } from './response-body.ts';
import { TransportFailure, transportFailureOf } from './transport-failure.ts';
import { requestUpgrade } from './upgrade.ts';
import { formBody, type UploadForm } from './upload-form.ts';

/** Maximum number of redirects of a link, as in most HTTP clients. */
const REDIRECTS_MAX = 10;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

export interface TargetOptions {
  /** The base URL of the target, without a trailing slash. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly requestTimeLimitMs: number;
  /** Certificates to trust in addition to Node's. */
  readonly caPem?: string | undefined;
  /** Limit on the rate of all requests to the target. */
  readonly requestsPerSecondMax?: number | undefined;
}

/** One request as it is sent. */
export interface WireRequest {
  readonly method: string;
  /** A path below the base URL, or an absolute URL such as a link. */
  readonly url: string;
  readonly headers?: Headers;
  /** An array is sent piece by piece, without a Content-Length. */
  readonly body?: string | Buffer | readonly (string | Buffer)[];
  /** A multipart form, which is sent in place of `body`. */
  readonly form?: UploadForm;
}

/** A request, its response or failure, and the record of both. */
export interface CompletedExchange {
  readonly request: WireRequest;
  /** The absolute URL of the request; for a command of a hook, the text that names the command. */
  readonly url: string;
  readonly outcome: HttpResponse | Error;
  readonly record: TargetExchange;
  /** The times of the record before they were rounded. */
  readonly exactly?: Pick<TargetExchange, 'startMs' | 'elapsedMs'>;
}

/** Options of a client of the target. */
export interface TargetClientOptions {
  /** Aborts every request of the client. */
  readonly signal?: AbortSignal | undefined;
  /**
   * True to return a response such as 429 at once, instead of waiting and repeating the request.
   */
  readonly noRateWait?: boolean;
  /** Called with each exchange as it ends. */
  readonly onExchange?: ((observed: CompletedExchange) => void) | undefined;
}

/** Writes a request on the connection, and resolves with its response. */
export type RawSend = (request: WireRequest, form?: RawRequestOptions) => Promise<RawResponse>;

/** The target of one run. The owner must close it. */
export class Target {
  readonly options: TargetOptions;
  /** Counts of the requests of all clients. */
  readonly traffic = new RequestTotals();
  readonly #agent: Agent;
  readonly #pace: Pace;
  /** The monotonic time at which the run started; the times of exchanges are relative to it. */
  readonly #startedMs: number;

  constructor(options: TargetOptions) {
    this.options = options;
    this.#startedMs = options.clock.monotonicMs();
    const { caPem, clock, requestsPerSecondMax } = options;
    this.#pace = new Pace(clock, requestsPerSecondMax);
    this.#agent = new Agent({
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(caPem === undefined ? {} : { connect: { ca: caPem } }),
    });
  }

  /** Returns a new client with its own record of exchanges. */
  newClient(options: TargetClientOptions = {}): TargetClient {
    const [runStartedMs, agent, pace] = [this.#startedMs, this.#agent, this.#pace];
    const { traffic } = this;
    return new TargetClient({
      ...this.options,
      ...options,
      runStartedMs,
      agent,
      pace,
      traffic,
    });
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** The options of a client, and the parts that it shares with other clients of its target. */
interface TargetClientParts extends TargetOptions, TargetClientOptions {
  readonly runStartedMs: number;
  readonly agent: Agent;
  readonly pace: Pace;
  readonly traffic: RequestTotals;
}

/** Sends requests to the target, and records their exchanges together. */
export class TargetClient {
  readonly exchangeList = new ExchangeList();
  readonly #parts: TargetClientParts;
  #waitedMs = 0;

  constructor(parts: TargetClientParts) {
    this.#parts = parts;
  }

  /** Total time that requests of this client waited for the rate limit, in milliseconds. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /**
   * Returns the absolute URL of a path below the base URL; an absolute URL is returned unchanged.
   */
  urlOf(pathOrUrl: string): string {
    return pathOrUrl.startsWith('/') ? `${this.#parts.baseUrl}${pathOrUrl}` : pathOrUrl;
  }

  /**
   * Sends a request, and repeats it after a pause when the target asks to slow down. Follows the
   * redirects of an absolute URL, such as a link to storage, as HTTP clients do. Throws a
   * TransportFailure when no HTTP response arrives in time, or the requested pauses are too long.
   */
  async send(request: WireRequest): Promise<HttpResponse> {
    let [response, at] = [await this.#sendUntilNotThrottled(request), request];
    for (let hops = 0; hops < REDIRECTS_MAX; hops += 1) {
      const nextRequest = redirectRequest(at, response);
      if (!nextRequest) return response;
      [response, at] = [await this.#sendUntilNotThrottled(nextRequest), nextRequest];
    }
    return response;
  }

  async #sendUntilNotThrottled(request: WireRequest): Promise<HttpResponse> {
    const { pace, noRateWait } = this.#parts;
    for (let repetition = 0; ; repetition += 1) {
      const response = await this.#sendOnce(request);
      const reaction = noRateWait ? undefined : pace.handleThrottling(response, repetition);
      if (reaction === undefined) return response;
      if (reaction !== 'repeat') throw new TransportFailure('asked-to-wait', reaction.giveUp);
    }
  }

  #sendOnce(request: WireRequest): Promise<HttpResponse> {
    return this.#recorded(request, async (url, signal) => {
      const { method, headers, form } = request;
      const body = form ? formBody(form) : bodyStream(request.body);
      const { traffic } = this.#parts;
      requireValidUrl(url);
      traffic.sent();
      const answer = await send(url, {
        method: method as Dispatcher.HttpMethod,
        headers: { ...headers },
        body: body ?? null,
        signal,
        dispatcher: this.#parts.agent,
      });
      const { bytes, headers: responseHeaders } = await readResponse(answer.body, answer.headers);
      const response = responseOf(answer.statusCode, responseHeaders, bytes);
      traffic.recordResponse(method, url, response.status);
      return { response, result: response };
    });
  }

  /** Requests an upgrade with exactly these headers. Throws a TransportFailure as `send` does. */
  upgrade(request: WireRequest): Promise<UpgradeResponse> {
    return this.#recorded(request, async (url, signal) => {
      const { caPem, traffic } = this.#parts;
      requireValidUrl(url);
      traffic.sent();
      const answer = await requestUpgrade({ url, headers: request.headers ?? {}, signal, caPem });
      const response = responseOf(answer.status, answer.headers, answer.body);
      return {
        response,
        result: answer.socket ? { ...response, socket: answer.socket } : response,
      };
    });
  }

  /** Sends requests literally on one connection, which is closed when `use` returns. */
  async onOneConnection<T>(use: (send: RawSend) => Promise<T>): Promise<T> {
    const { baseUrl, caPem, clock, traffic } = this.#parts;
    const connection = new RawConnection(baseUrl, { caPem, clock });
    const send: RawSend = (request, form) =>
      this.#recorded(request, async (url, signal) => {
        const { method, headers = {}, body = '' } = request;
        traffic.sent();
        const end = (): void => connection.close();
        signal.addEventListener('abort', end, { once: true });
        const serializedRequest = { method, url, headers, body: String(body) };
        const response = await connection.send(serializedRequest, form);
        signal.removeEventListener('abort', end);
        traffic.recordResponse(method, url, response.status);
        return { response, result: response };
      });
    try {
      return await use(send);
    } finally {
      connection.close();
    }
  }

  /**
   * Runs an action that is not a request to the target, such as a command, with a time limit and a
   * record: `method` and `url` name the action, and `body` is its input.
   */
  recordAction<T>(
    { timeLimitMs, ...action }: WireRequest & { readonly timeLimitMs: number },
    act: (signal: AbortSignal) => Promise<{ response: HttpResponse; result: T }>,
  ): Promise<T> {
    return this.#recorded(action, (_, signal) => act(signal), timeLimitMs);
  }

  async #recorded<T>(
    request: WireRequest,
    act: (url: string, signal: AbortSignal) => Promise<{ response: HttpResponse; result: T }>,
    timeLimitMs = this.#parts.requestTimeLimitMs,
  ): Promise<T> {
    const { clock, runStartedMs, signal: ending, onExchange } = this.#parts;
    const url = this.urlOf(request.url);
    await this.#turn();
    const limit = new AbortController();
    const timer = clock.after(timeLimitMs, () => {
      const message = `no complete response within ${timeLimitMs} ms`;
      limit.abort(new TransportFailure('request-time-limit', message));
    });
    const signal = ending ? AbortSignal.any([limit.signal, ending]) : limit.signal;
    const startedMs = clock.monotonicMs();
    const recordOutcome = (outcome: HttpResponse | Error): void => {
      const times = {
        startMs: startedMs - runStartedMs,
        elapsedMs: clock.monotonicMs() - startedMs,
      };
      const exchange = exchangeOf({ ...request, url }, outcome, times);
      this.exchangeList.add(exchange);
      onExchange?.({ request, url, outcome, record: exchange, exactly: times });
    };
    try {
      const { response, result } = await act(url, signal);
      recordOutcome(response);
      return result;
    } catch (error) {
      const failure = signal.aborted
        ? endOf(signal)
        : (transportFailureOf(error) ?? asError(error));
      recordOutcome(failure);
      throw failure;
    } finally {
      timer.cancel();
    }
  }

  async #turn(): Promise<void> {
    const { clock, pace, signal } = this.#parts;
    const fromMs = clock.monotonicMs();
    await pace.turn(signal);
    this.#waitedMs += clock.monotonicMs() - fromMs;
  }
}

/**
 * Returns the request that follows a redirect of a link; undefined if the response is not a
 * redirect, or if the request was for a path below the base URL, whose redirects are not followed.
 */
function redirectRequest(request: WireRequest, response: HttpResponse): WireRequest | undefined {
  const { method, url, headers = {} } = request;
  const { location } = response.headers;
  const isLink = method === 'GET' && URL.canParse(url);
  if (!isLink || !redirects.includes(response.status) || !URL.canParse(location ?? '', url)) {
    return undefined;
  }
  const nextUrl = new URL(location ?? '', url);
  const { authorization: _, ...otherHeaders } = headers;
  const isSameOrigin = nextUrl.origin === new URL(url).origin;
  return { ...request, url: nextUrl.href, headers: isSameOrigin ? headers : otherHeaders };
}

function bodyStream(body: WireRequest['body']) {
  return Array.isArray(body) ? Readable.from(body) : (body as string | Buffer | undefined);
}

/** Throws NotObservable for an invalid URL. Another case checks that links are valid. */
function requireValidUrl(url: string): void {
  if (!URL.canParse(url)) throw new NotObservable(`cannot reach ${describeValue(url)}`);
}

/** Returns why the suite ended a request. */
function endOf({ reason }: AbortSignal): TransportFailure {
  if (reason instanceof TransportFailure) return reason;
  return new TransportFailure('interrupted', 'the run was interrupted', reason);
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function responseOf(status: number, headers: AnsweredHeaders, bytes: Buffer): HttpResponse {
  const headerPairs = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return { status, headers: Object.fromEntries(headerPairs), bytes, text: bytes.toString('utf8') };
}
