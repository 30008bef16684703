/**
 * The transport to a server: pooled connections, a time limit on every exchange, bounded bodies,
 * and one place where every exchange is measured. Knows nothing of devices or operations.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, Pool } from 'undici';
import type { Clock } from '../../fixtures/clock.ts';
import type { Method } from '../../fixtures/contract/operation.ts';
import { Attempt } from './attempt.ts';
import type { CarriedAnswer, Carrier, Dispatching } from './carrier.ts';
import { connectorFor, type Wiring } from './connections.ts';
import {
  AnswerError,
  ClientError,
  FleetStopped,
  type NoAnswerKind,
  noAnswerKindOf,
  TransportError,
} from './errors.ts';
import { InProgress } from './in-progress.ts';
import { type WholeAnswer, WholeAnswerReader } from './whole-answer.ts';

/** Receives every exchange, with or without a response. */
export interface ExchangeObserver {
  /** Called when a scheduled exchange is sent, with its lateness. */
  sent(latenessMs: number): void;
  /** @param latencyMs since the exchange was due */
  answered(operation: string, status: number, latencyMs: number): void;
  unanswered(operation: string, silence: NoAnswerKind): void;
  /** Called when a response that was already counted refused the device's signature. */
  signatureRefused(operation: string): void;
}

/** A finished exchange: its status or the cause of its failure, and its duration. */
export interface EndedExchange {
  readonly operation: string;
  readonly caller: string;
  /** Absent when there was no response. */
  readonly status?: number;
  /** Why there was none, such as `transport/ECONNRESET`. */
  readonly cause?: string;
  /** Milliseconds since the exchange was due. */
  readonly elapsedMs: number;
}

/** The caller and the operation of a request. */
export type ExchangeSubject = Pick<HttpRequest, 'operation' | 'caller'>;

/** How to reach a server. */
export interface TransportOptions extends Wiring {
  /** With `http:` or `https:`; a path in it prefixes every operation's path. */
  readonly baseUrl: string;
  readonly requestTimeLimitMs: number;
  readonly clock: Clock;
  readonly observer: ExchangeObserver;
  /** Called for every exchange as it ends, including its caller. */
  readonly onExchange?: ((ended: EndedExchange) => void) | undefined;
  /** Returns the error that keeps a request from being sent; undefined when there is none. */
  readonly obstacle?: ((request: ExchangeSubject) => Error | undefined) | undefined;
  /** Concurrent connections to one origin. */
  readonly connectionsMax: number;
  /** Carries the requests in place of connections. */
  readonly carrier?: Carrier | undefined;
}

export interface HttpRequest {
  /** ID of the contract's operation, under which the exchange is counted. */
  readonly operation: string;
  /** The caller, for error messages. */
  readonly caller: string;
  readonly method: Method;
  /** Path and query below the base URL, or a full URL for a link. */
  readonly target: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** When it was due, in monotonic milliseconds; when absent, now. */
  readonly plannedMs?: number | undefined;
  /** Largest accepted response body in bytes. */
  readonly answerMaxBytes?: number;
}

/** A response with its whole body. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly elapsedMs: number;
}

/** A response whose body has not been read. */
export interface OpenAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Reads the body to its end. Throws ClientError when it breaks off or stalls. */
  chunks(): AsyncGenerator<Buffer>;
  /** Discards the body without reading the rest of it. */
  discard(): void;
  /** Returns the milliseconds since the request was sent. */
  elapsedMs(): number;
}

/** Default limit on the bytes of a response body. */
const ANSWER_MAX_BYTES = 4 * 2 ** 20;
/** Hosts other than the server's own that links may point to during one run. */
const LINK_ORIGINS_MAX = 32;

/** Where a request goes, and over which connections. */
interface ConnectionSlot {
  readonly dispatcher: Dispatching;
  readonly origin: string;
  readonly path: string;
}

/** Connections to one server; close it when done. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #base: URL;
  readonly #basePath: string;
  readonly #pool: Pool;
  readonly #elsewhere: Agent;
  readonly #underway = new InProgress<Attempt>();

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#base = new URL(options.baseUrl);
    this.#basePath = this.#base.pathname.replace(/\/$/, '');
    const settings = {
      connections: options.connectionsMax,
      // The run's clock enforces the time limit of the whole exchange, not undici's.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: connectorFor(options, options.requestTimeLimitMs),
    };
    this.#pool = new Pool(this.#base.origin, settings);
    this.#elsewhere = new Agent({ ...settings, maxOrigins: LINK_ORIGINS_MAX });
  }

  /**
   * Sends a request and reads the whole response, whatever its status.
   * @throws TransportError, TimeoutError, AnswerError (`too-large`), FleetStopped
   */
  async exchange(request: HttpRequest): Promise<HttpAnswer> {
    const attempt = this.#begun(request);
    try {
      this.#expectNoObstacle(request);
      const { status, headers, body, isCutOff } = await this.#whole(request, attempt);
      this.#done(attempt, request, status);
      const elapsedMs = attempt.elapsedMs();
      if (isCutOff) throw tooLarge(request, elapsedMs);
      return { status, headers, body, elapsedMs };
    } catch (error) {
      throw this.#failed(attempt, error);
    }
  }

  /**
   * Sends a request and returns once the head of the response has arrived; the body must be read or
   * discarded. The time limit then applies to each pause between two chunks of the body.
   * @throws TransportError, TimeoutError, FleetStopped
   */
  async open(request: HttpRequest): Promise<OpenAnswer> {
    const attempt = this.#begun(request);
    try {
      this.#expectNoObstacle(request);
      attempt.extend();
      const answer = await this.#send(request, attempt.signal());
      return this.#opened(answer, attempt, request);
    } catch (error) {
      throw this.#failed(attempt, error);
    }
  }

  /** The observer of the exchanges. */
  get observer(): ExchangeObserver {
    return this.#options.observer;
  }

  /** Time limit of an exchange in milliseconds. */
  get requestTimeLimitMs(): number {
    return this.#options.requestTimeLimitMs;
  }

  /** Number of exchanges that wait for time to pass on a carrier. */
  get onTheWayCount(): number {
    return this.#options.carrier?.onTheWayCount ?? 0;
  }

  /** Number of exchanges that wait for the server or the network. */
  get awaitedCount(): number {
    let count = 0;
    for (const attempt of this.#underway.now()) if (!attempt.isHeld) count++;
    return count;
  }

  /** Current HTTP connections to the server, and requests that wait for one. */
  get load(): { readonly connections: number; readonly queued: number } {
    const { connected, queued } = this.#pool.stats;
    return { connections: connected, queued };
  }

  /** Aborts everything in progress: each exchange fails with FleetStopped. */
  breakOff(): void {
    for (const attempt of this.#underway.now()) attempt.stop(new FleetStopped());
  }

  /** Aborts the exchanges that have become blocked while in progress. */
  breakOffBlocked(): void {
    for (const attempt of this.#underway.now()) {
      const obstacle = this.#options.obstacle?.(attempt.subject);
      if (obstacle) attempt.stop(obstacle);
    }
  }

  /** Closes all connections; exchanges still in progress are aborted. */
  async close(): Promise<void> {
    this.breakOff();
    await Promise.all([this.#pool.destroy(), this.#elsewhere.destroy()]);
  }

  #begun(request: HttpRequest): Attempt {
    const attempt = new Attempt(request, this.#options);
    if (request.plannedMs !== undefined) this.observer.sent(attempt.latenessMs);
    this.#underway.add(attempt);
    return attempt;
  }

  #expectNoObstacle(request: HttpRequest): void {
    const obstacle = this.#options.obstacle?.(request);
    if (obstacle) throw obstacle;
  }

  /** Reads the whole response directly, without the stream that `open` creates: the hot path. */
  #whole(request: HttpRequest, attempt: Attempt): Promise<WholeAnswer> {
    const { method, headers, body = null } = request;
    // Named one by one: with a spread, a poll was seen to leave 1 KB more among the old objects.
    const { dispatcher, origin, path } = this.#placeOf(request);
    return new Promise((resolve, reject) => {
      const reader = new WholeAnswerReader(maxBytesOf(request), { resolve, reject });
      attempt.whenBrokenOff(() => reader.breakOff(new Error('broken off')));
      dispatcher.dispatch({ origin, path, method, headers, body }, reader);
      // A carrier in memory may have brought the answer already.
      if (!reader.isSettled) attempt.extend();
    });
  }

  #send(request: HttpRequest, signal: AbortSignal): Promise<CarriedAnswer> {
    const { method, headers, body = null } = request;
    const { dispatcher, ...place } = this.#placeOf(request);
    return dispatcher.request({ method, headers, body, signal, ...place });
  }

  #placeOf(request: HttpRequest): ConnectionSlot {
    const { target } = request;
    const { origin } = this.#base;
    const dispatcher = this.#options.carrier?.over(request);
    if (typeof target === 'string') {
      return { dispatcher: dispatcher ?? this.#pool, origin, path: this.#basePath + target };
    }
    const path = target.pathname + target.search;
    const isOwn = target.origin === origin;
    const connections = isOwn ? this.#pool : this.#elsewhere;
    return { dispatcher: dispatcher ?? connections, origin: target.origin, path };
  }

  #opened(answer: CarriedAnswer, attempt: Attempt, request: HttpRequest): OpenAnswer {
    const { statusCode: status, headers, body } = answer;
    const done = (): void => this.#done(attempt, request, status);
    const failed = (error: unknown): unknown => this.#failed(attempt, error);
    async function* chunks(): AsyncGenerator<Buffer> {
      try {
        for await (const chunk of body) {
          // The reader's processing time is not the server's.
          attempt.hold();
          yield chunk;
          attempt.extend();
        }
      } catch (error) {
        throw failed(error);
      } finally {
        // Also when the reader has stopped early: the server did respond.
        done();
      }
    }
    const discard = (): void => {
      done();
      // Destroying a body emits an error that is of no interest.
      body.on('error', () => undefined).destroy();
    };
    return { status, headers, chunks, discard, elapsedMs: () => attempt.elapsedMs() };
  }

  #done(attempt: Attempt, request: HttpRequest, status: number): void {
    if (!this.#underway.delete(attempt)) return;
    attempt.end();
    const { operation, caller } = request;
    const elapsedMs = attempt.latencyMs();
    this.observer.answered(operation, status, elapsedMs);
    this.#options.onExchange?.({ operation, caller, status, elapsedMs });
  }

  #failed(attempt: Attempt, error: unknown): unknown {
    const clientError = attempt.errorOf(error);
    if (this.#underway.delete(attempt)) {
      attempt.end();
      if (clientError instanceof ClientError) this.#unanswered(clientError);
    }
    return clientError;
  }

  #unanswered(error: ClientError): void {
    const { operation, caller, label: cause, elapsedMs } = error;
    this.observer.unanswered(operation, silenceIn(error));
    this.#options.onExchange?.({ operation, caller, cause, elapsedMs });
  }
}

function silenceIn(error: ClientError): NoAnswerKind {
  if (error instanceof TransportError) return noAnswerKindOf(error.reason);
  return error.code === 'timeout' ? 'timeout' : 'other';
}

function maxBytesOf({ answerMaxBytes = ANSWER_MAX_BYTES }: HttpRequest): number {
  return answerMaxBytes;
}

function tooLarge(request: HttpRequest, elapsedMs: number): AnswerError {
  const { operation, caller } = request;
  const said = `the answer is larger than ${maxBytesOf(request)} bytes`;
  return new AnswerError('too-large', said, { operation, caller, elapsedMs });
}
