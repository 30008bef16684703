/**
 * The transport to a server: pooled connections, a time limit on every exchange, limited body
 * sizes, and one place that measures every exchange. It knows neither devices nor operations.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher, Pool } from 'undici';
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Method } from '../../fixtures/contract/operation.ts';
import { Attempt } from './attempt.ts';
import { type ConnectionOptions, connectorFor } from './connections.ts';
import {
  ClientError,
  FleetStopped,
  type NoResponseKind,
  noResponseKindOf,
  ResponseError,
  TransportError,
} from './errors.ts';
import type {
  DispatchedResponse,
  InProcessTransport,
  RequestDispatcher,
} from './in-process-transport.ts';
import { InProgress } from './in-progress.ts';
import { type WholeResponse, WholeResponseReader } from './whole-response.ts';

/** Receives the metrics of every exchange, with or without a response. */
export interface ExchangeMeter {
  /** Called when a scheduled exchange is sent, with its lateness in milliseconds. */
  recordLateness(latenessMs: number): void;
  recordResponse(exchange: AnsweredExchange): void;
  recordNoResponse(exchange: UnansweredExchange): void;
  /**
   * Called with the size of a request's body when it is written to a connection, and with the size
   * of a WebSocket message that is sent.
   */
  recordSentBytes(operation: string, bytes: number): void;
  /** Called with the size of each received chunk of a body, and of each WebSocket message. */
  recordReceivedBytes(operation: string, bytes: number): void;
  /** Called in addition to `recordResponse` when the server refused the device's signature. */
  recordRefusedSignature(operation: string): void;
}

/** An exchange that got a response. */
export interface AnsweredExchange {
  readonly operation: string;
  /** Name of the caller; absent for a WebSocket handshake that no device is known for. */
  readonly caller?: string;
  readonly status: number;
  /** Milliseconds since the exchange was due. */
  readonly elapsedMs: number;
  /**
   * The part of `elapsedMs` before the request was written to a connection; the rest is service.
   */
  readonly waitingMs: number;
}

/** An exchange that got no response. */
export interface UnansweredExchange {
  readonly operation: string;
  readonly caller?: string;
  readonly noResponse: NoResponseKind;
}

/** An exchange that has ended: its status or the cause of its failure, and its duration. */
export interface EndedExchange {
  readonly operation: string;
  readonly caller: string;
  /** Status of the response; absent when none arrived. */
  readonly status?: number;
  /** Why no response arrived, such as `transport/ECONNRESET`. */
  readonly cause?: string;
  /** Milliseconds since the exchange was due; for a failed exchange, since it started. */
  readonly elapsedMs: number;
  /** The part of `elapsedMs` before the request was sent; absent when no response arrived. */
  readonly waitingMs?: number;
}

/** The caller and the operation of an exchange. */
export type ExchangeSubject = Pick<HttpRequest, 'operation' | 'caller'>;

/** The address of a server, and the settings of the exchanges with it. */
export interface TransportOptions extends ConnectionOptions {
  /**
   * URL with `http:` or `https:`. If it has a path, that path precedes the path of every operation.
   */
  readonly baseUrl: string;
  readonly requestTimeLimitMs: number;
  readonly clock: Clock;
  readonly observer: ExchangeMeter;
  /** Called for every exchange when it ends, with its caller. */
  readonly onExchange?: ((ended: EndedExchange) => void) | undefined;
  /** Returns the error that prevents a request from being sent; undefined when there is none. */
  readonly obstacle?: ((request: ExchangeSubject) => Error | undefined) | undefined;
  /** Maximum number of concurrent connections to one origin. */
  readonly connectionsMax: number;
  /** Carries the requests in place of connections. */
  readonly inProcess?: InProcessTransport | undefined;
}

export interface HttpRequest {
  /** ID of the contract's operation, under which the exchange is counted. */
  readonly operation: string;
  /** Name of the caller in error messages. */
  readonly caller: string;
  readonly method: Method;
  /** Path and query below the base URL, or a full URL for a link. */
  readonly target: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** When the request was due, in monotonic milliseconds; without a value, now. */
  readonly dueMs?: number | undefined;
  /** Largest accepted response body in bytes. */
  readonly responseMaxBytes?: number;
}

/** A response with its whole body. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly elapsedMs: number;
}

/** A response whose body has not been read. */
export interface OpenResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /**
   * Yields the body to its end.
   * @throws ClientError when the body breaks off or stalls
   */
  chunks(): AsyncGenerator<Buffer>;
  /** Closes the response without reading the rest of its body. */
  discard(): void;
  /** Returns the milliseconds since the exchange started. */
  elapsedMs(): number;
}

/** Default limit on a response body, in bytes. */
const RESPONSE_MAX_BYTES = 4 * 2 ** 20;
/** Maximum number of hosts, other than the server's own, that links may point to in one run. */
const LINK_ORIGINS_MAX = 32;

/** The connections, the origin and the path of a request. */
interface ConnectionSlot {
  readonly dispatcher: RequestDispatcher;
  readonly origin: string;
  readonly path: string;
}

/** The connections to one server. The owner must close it. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #base: URL;
  readonly #basePath: string;
  readonly #pool: Pool;
  readonly #elsewhere: Agent;
  readonly #inFlight = new InProgress<Attempt>();

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#base = new URL(options.baseUrl);
    this.#basePath = this.#base.pathname.replace(/\/$/, '');
    const settings = {
      connections: options.connectionsMax,
      // The clock of the run enforces the time limit of an exchange, so undici's own limits are
      // off.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: connectorFor(options, options.requestTimeLimitMs),
    };
    this.#pool = new Pool(this.#base.origin, settings);
    this.#elsewhere = new Agent({ ...settings, maxOrigins: LINK_ORIGINS_MAX });
  }

  /**
   * Sends a request and reads the whole response, whatever its status.
   * @throws TransportError, TimeoutError, ResponseError (`too-large`), FleetStopped
   */
  async exchange(request: HttpRequest): Promise<HttpResponse> {
    const attempt = this.#begin(request);
    try {
      this.#expectNoObstacle(request);
      const { status, headers, body, isTruncated } = await this.#whole(request, attempt);
      this.#done(attempt, request, status);
      const elapsedMs = attempt.elapsedMs();
      if (isTruncated) throw tooLarge(request, elapsedMs);
      return { status, headers, body, elapsedMs };
    } catch (error) {
      throw this.#failed(attempt, error);
    }
  }

  /**
   * Sends a request and returns once the head of the response has arrived. The caller must read or
   * discard the body. The time limit then applies to the wait for each chunk of the body.
   * @throws TransportError, TimeoutError, FleetStopped
   */
  async open(request: HttpRequest): Promise<OpenResponse> {
    const attempt = this.#begin(request);
    try {
      this.#expectNoObstacle(request);
      attempt.restartTimeLimit();
      const response = await this.#send(request, attempt);
      return this.#opened(response, attempt, request);
    } catch (error) {
      throw this.#failed(attempt, error);
    }
  }

  get observer(): ExchangeMeter {
    return this.#options.observer;
  }

  /** Time limit of an exchange in milliseconds. */
  get requestTimeLimitMs(): number {
    return this.#options.requestTimeLimitMs;
  }

  /** Number of exchanges with a server in the same process that wait for virtual time to pass. */
  get inFlightCount(): number {
    return this.#options.inProcess?.inFlightCount ?? 0;
  }

  /** Number of exchanges that wait for the server or the network. */
  get awaitedCount(): number {
    let count = 0;
    for (const attempt of this.#inFlight.list()) if (!attempt.isTimeLimitPaused) count++;
    return count;
  }

  /** Number of open HTTP connections to the server, and of requests that wait for a connection. */
  get load(): { readonly connections: number; readonly queued: number } {
    const { connected, queued } = this.#pool.stats;
    return { connections: connected, queued };
  }

  /** Aborts every exchange in progress; each fails with FleetStopped. */
  abortAll(): void {
    for (const attempt of this.#inFlight.list()) attempt.stop(new FleetStopped());
  }

  /** Aborts the exchanges in progress for which `obstacle` now returns an error. */
  abortBlockedExchanges(): void {
    for (const attempt of this.#inFlight.list()) {
      const obstacle = this.#options.obstacle?.(attempt.subject);
      if (obstacle) attempt.stop(obstacle);
    }
  }

  /** Closes all connections and aborts the exchanges in progress. */
  async close(): Promise<void> {
    this.abortAll();
    await Promise.all([this.#pool.destroy(), this.#elsewhere.destroy()]);
  }

  #begin(request: HttpRequest): Attempt {
    const attempt = new Attempt(request, this.#options);
    if (request.dueMs !== undefined) this.observer.recordLateness(attempt.latenessMs);
    this.#inFlight.add(attempt);
    return attempt;
  }

  #expectNoObstacle(request: HttpRequest): void {
    const obstacle = this.#options.obstacle?.(request);
    if (obstacle) throw obstacle;
  }

  /**
   * Reads a whole response without the stream that `open` creates, because nearly every exchange
   * takes this path.
   */
  #whole(request: HttpRequest, attempt: Attempt): Promise<WholeResponse> {
    const { method, headers, body = null } = request;
    // The fields are named instead of spread: a spread left 1 KB per poll in the old generation.
    const { dispatcher, origin, path } = this.#locationOf(request);
    return new Promise((resolve, reject) => {
      const reader = new WholeResponseReader(maxBytesOf(request), {
        resolve,
        reject,
        onSent: () => this.#recordSent(attempt, request),
        onReceived: (bytes) => this.observer.recordReceivedBytes(request.operation, bytes),
      });
      attempt.onAbort(() => reader.abort(new Error('broken off')));
      dispatcher.dispatch({ origin, path, method, headers, body }, reader);
      // A server in the same process may already have delivered the response.
      if (!reader.isSettled) attempt.restartTimeLimit();
    });
  }

  #send(request: HttpRequest, attempt: Attempt): Promise<DispatchedResponse> {
    const { method, headers, body = null } = request;
    const { dispatcher, ...slot } = this.#locationOf(request);
    const signal = attempt.signal();
    const onSent = (): void => this.#recordSent(attempt, request);
    const watchedDispatcher = dispatcher.compose?.(whenSent(onSent));
    if (watchedDispatcher === undefined) onSent();
    return (watchedDispatcher ?? dispatcher).request({ method, headers, body, signal, ...slot });
  }

  #recordSent(attempt: Attempt, { operation, body }: HttpRequest): void {
    attempt.recordSent();
    if (body !== undefined) this.observer.recordSentBytes(operation, Buffer.byteLength(body));
  }

  #locationOf(request: HttpRequest): ConnectionSlot {
    const { target } = request;
    const { origin } = this.#base;
    const dispatcher = this.#options.inProcess?.over(request);
    if (typeof target === 'string') {
      return { dispatcher: dispatcher ?? this.#pool, origin, path: this.#basePath + target };
    }
    const path = target.pathname + target.search;
    const isOwn = target.origin === origin;
    const connections = isOwn ? this.#pool : this.#elsewhere;
    return { dispatcher: dispatcher ?? connections, origin: target.origin, path };
  }

  #opened(response: DispatchedResponse, attempt: Attempt, request: HttpRequest): OpenResponse {
    const { statusCode: status, headers, body } = response;
    const countDone = (): void => this.#done(attempt, request, status);
    const failureOf = (error: unknown): unknown => this.#failed(attempt, error);
    const countReceived = (bytes: number): void =>
      this.observer.recordReceivedBytes(request.operation, bytes);
    async function* chunks(): AsyncGenerator<Buffer> {
      try {
        for await (const chunk of body) {
          // The time limit does not run while the consumer processes a chunk.
          attempt.pauseTimeLimit();
          countReceived(chunk.length);
          yield chunk;
          attempt.restartTimeLimit();
        }
      } catch (error) {
        throw failureOf(error);
      } finally {
        // A consumer that stops early also ends the exchange, because the server did respond.
        countDone();
      }
    }
    const discard = (): void => {
      countDone();
      // Destroying the body emits an error, which can be ignored here.
      body.on('error', () => undefined).destroy();
    };
    return { status, headers, chunks, discard, elapsedMs: () => attempt.elapsedMs() };
  }

  #done(attempt: Attempt, request: HttpRequest, status: number): void {
    if (!this.#inFlight.delete(attempt)) return;
    attempt.end();
    const { operation, caller } = request;
    const elapsedMs = attempt.latencyMs();
    const exchange = { operation, caller, status, elapsedMs, waitingMs: attempt.waitingMs() };
    this.observer.recordResponse(exchange);
    this.#options.onExchange?.(exchange);
  }

  #failed(attempt: Attempt, error: unknown): unknown {
    const clientError = attempt.errorOf(error);
    if (this.#inFlight.delete(attempt)) {
      attempt.end();
      if (clientError instanceof ClientError) this.#reportNoResponse(clientError);
    }
    return clientError;
  }

  #reportNoResponse(error: ClientError): void {
    const { operation, caller, label: cause, elapsedMs } = error;
    this.observer.recordNoResponse({ operation, caller, noResponse: noResponseIn(error) });
    this.#options.onExchange?.({ operation, caller, cause, elapsedMs });
  }
}

/** Returns an interceptor that calls `onSent` when a request is written to a connection. */
function whenSent(onSent: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context) => {
        onSent();
        handler.onRequestStart?.(controller, context);
      },
      onResponseStart: (...head) => handler.onResponseStart?.(...head),
      onResponseData: (...chunk) => handler.onResponseData?.(...chunk),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...failure) => handler.onResponseError?.(...failure),
    });
}

function noResponseIn(error: ClientError): NoResponseKind {
  if (error instanceof TransportError) return noResponseKindOf(error.reason);
  return error.code === 'timeout' ? 'timeout' : 'other';
}

function maxBytesOf({ responseMaxBytes = RESPONSE_MAX_BYTES }: HttpRequest): number {
  return responseMaxBytes;
}

function tooLarge(request: HttpRequest, elapsedMs: number): ResponseError {
  const { operation, caller } = request;
  const message = `the response is larger than ${maxBytesOf(request)} bytes`;
  return new ResponseError('too-large', message, { operation, caller, elapsedMs });
}
