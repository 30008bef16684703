/**
 * Simulates the network between one device and the server: latency, jitter, loss and bandwidth. It
 * wraps the transport and opens no socket. Its waits use the clock of the run, and its random
 * numbers come from a generator of the device.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { NetworkShape } from '../plan/policy.ts';
import { type ClientError, type ErrorContext, TimeoutError, TransportError } from './errors.ts';
import { FrameNetwork } from './frame-network.ts';
import type { HttpRequest, HttpResponse, OpenResponse } from './transport.ts';

/**
 * Sends requests; implemented by the transport, and by a simulated network or a tap in front of it.
 */
export interface RequestSender {
  exchange(request: HttpRequest): Promise<HttpResponse>;
  open(request: HttpRequest): Promise<OpenResponse>;
}

export interface SimulatedNetworkOptions {
  readonly clock: Clock;
  /** Random generator of the device; each exchange draws from it in order. */
  readonly random: Random;
  /**
   * Waits for a time.
   * @throws FleetStopped when the run ends first
   */
  readonly sleep: (waitMs: number) => Promise<void>;
  /** Time limit after which a device gives up an exchange that stalls. */
  readonly requestTimeLimitMs: number;
}

/**
 * Where an exchange is lost: in its request, in its response, or in the response's body after this
 * share of the bytes.
 */
type LossPoint = 'request' | 'response' | { readonly afterShare: number };

/** The random outcome of one exchange: whether, where and how the network loses it. */
interface ExchangeOutcome {
  readonly lostAt: LossPoint | undefined;
  /** True when the connection breaks immediately; false when it stalls until the time limit. */
  readonly byReset: boolean;
}

/** A request that has passed the network, with its outcome. */
interface Transmission {
  readonly request: HttpRequest;
  readonly outcome: ExchangeOutcome;
  /** Ends the exchange with the loss that its outcome plans. */
  lose(): Promise<never>;
}

/** The simulated network of one device: latency, jitter, loss and bandwidth. */
export class SimulatedNetwork {
  readonly #shape: NetworkShape;
  readonly #options: SimulatedNetworkOptions;

  constructor(shape: NetworkShape, options: SimulatedNetworkOptions) {
    this.#shape = shape;
    this.#options = options;
  }

  /** Returns a transport that sends every request through this network. */
  wrap(transport: RequestSender): RequestSender {
    return {
      exchange: (request) => this.#exchange(transport, request),
      open: (request) => this.#open(transport, request),
    };
  }

  /**
   * Returns the round-trip delay of a socket handshake in milliseconds, or undefined when the
   * network loses the handshake.
   * @param opening number of handshakes that the device started before
   */
  handshakeMs(opening: number): number | undefined {
    const chance = this.#options.random.stream(`handshake/${opening}`);
    const { latencyMs, jitterMs, lossShare } = this.#shape;
    if (chance.fraction() < lossShare) return undefined;
    const oneWayMs = (): number => latencyMs + jitterMs * (2 * chance.fraction() - 1);
    return Math.max(0, oneWayMs()) + Math.max(0, oneWayMs());
  }

  /**
   * Returns the network of each direction of a socket.
   * @param opening number of sockets that the device opened before
   * @param broken called when the network breaks the connection
   */
  frames(opening: number, broken: () => void) {
    const { clock, random } = this.#options;
    const frameNetwork = (name: string): FrameNetwork =>
      new FrameNetwork({ shape: this.#shape, clock, random: random.stream(name), broken });
    return {
      up: frameNetwork(`frames/${opening}/up`),
      down: frameNetwork(`frames/${opening}/down`),
    };
  }

  async #exchange(transport: RequestSender, request: HttpRequest): Promise<HttpResponse> {
    const transmission = await this.#transmit(request);
    const response = await transport.exchange(transmission.request);
    if (transmission.outcome.lostAt !== undefined) return transmission.lose();
    await this.#options.sleep(this.#transferMs(response.body.length));
    return response;
  }

  async #open(transport: RequestSender, request: HttpRequest): Promise<OpenResponse> {
    const transmission = await this.#transmit(request);
    const response = await transport.open(transmission.request);
    const bodyBytes = Number(response.headers['content-length'] ?? 0);
    const { lostAt } = transmission.outcome;
    if (lostAt === 'response' || (lostAt !== undefined && bodyBytes === 0)) {
      response.discard();
      return transmission.lose();
    }
    return { ...response, chunks: () => this.#paced(response, transmission) };
  }

  /**
   * Waits for the delay of both directions before the request is sent, so that the delay of the
   * simulated network counts neither as server latency nor as lateness of the request.
   * @throws TransportError, TimeoutError when the request is lost; FleetStopped
   */
  async #transmit(request: HttpRequest): Promise<Transmission> {
    const { clock, sleep } = this.#options;
    const startedMs = clock.monotonicMs();
    const outcome = this.#drawOutcome();
    const sentBytes = Buffer.byteLength(request.body ?? '');
    await sleep(this.#latencyMs() + this.#latencyMs() + this.#transferMs(sentBytes));
    const lose = (): Promise<never> => this.#lose(outcome, request, startedMs);
    if (outcome.lostAt === 'request') return lose();
    const { dueMs } = request;
    if (dueMs === undefined) return { request, outcome, lose };
    const shiftedMs = dueMs + clock.monotonicMs() - startedMs;
    return { request: { ...request, dueMs: shiftedMs }, outcome, lose };
  }

  /** Yields the body at the bandwidth of the network, up to the point of loss. */
  async *#paced(response: OpenResponse, { outcome, lose }: Transmission): AsyncGenerator<Buffer> {
    const { lostAt } = outcome;
    const length = Number(response.headers['content-length'] ?? 0);
    let leftBytes = typeof lostAt === 'object' ? Math.floor(length * lostAt.afterShare) : undefined;
    for await (const chunk of this.#splitBody(response.chunks())) {
      const through = chunk.subarray(0, leftBytes ?? chunk.length);
      await this.#options.sleep(this.#transferMs(through.length));
      if (through.length > 0) yield through;
      if (leftBytes === undefined) continue;
      leftBytes -= through.length;
      if (through.length < chunk.length) await lose();
    }
  }

  /**
   * Splits the body into the pieces of a tenth of a second, so that a body that is lost midway
   * still delivers the bytes before the loss.
   */
  async *#splitBody(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const { bytesPerSecond } = this.#shape;
    const chunkMax =
      bytesPerSecond === 0 ? Number.POSITIVE_INFINITY : Math.ceil(bytesPerSecond / 10);
    for await (const chunk of chunks) {
      for (let start = 0; start < chunk.length; start += chunkMax) {
        yield chunk.subarray(start, start + chunkMax);
      }
    }
  }

  #drawOutcome(): ExchangeOutcome {
    const { random } = this.#options;
    // Draws a fixed number of random values, so that one more loss does not change later outcomes.
    const lossDraw = random.fraction();
    const where = random.fraction();
    const how = random.fraction();
    const points: readonly LossPoint[] = ['request', 'response', { afterShare: random.fraction() }];
    const isLost = lossDraw < this.#shape.lossShare;
    const lostAt = isLost ? points[Math.floor(where * points.length)] : undefined;
    return { lostAt, byReset: how < 0.5 };
  }

  #latencyMs(): number {
    const { latencyMs, jitterMs } = this.#shape;
    return Math.max(0, latencyMs + jitterMs * (2 * this.#options.random.fraction() - 1));
  }

  #transferMs(bytes: number): number {
    const { bytesPerSecond } = this.#shape;
    return bytesPerSecond === 0 ? 0 : (bytes * 1000) / bytesPerSecond;
  }

  async #lose(outcome: ExchangeOutcome, request: HttpRequest, startedMs: number): Promise<never> {
    const { clock, sleep, requestTimeLimitMs } = this.#options;
    const waitedMs = clock.monotonicMs() - startedMs;
    if (!outcome.byReset) await sleep(Math.max(0, requestTimeLimitMs - waitedMs));
    const { operation, caller } = request;
    const elapsedMs = clock.monotonicMs() - startedMs;
    const circumstances: ErrorContext = { operation, caller, elapsedMs };
    throw lostExchange(outcome, requestTimeLimitMs, circumstances);
  }
}

function lostExchange(
  { byReset }: ExchangeOutcome,
  requestTimeLimitMs: number,
  circumstances: ErrorContext,
): ClientError {
  if (byReset) return new TransportError('NETWORK_LOSS', circumstances);
  return new TimeoutError(requestTimeLimitMs, circumstances);
}
