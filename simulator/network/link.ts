/**
 * The network between one device and the server, simulated in this process: latency, jitter, loss
 * and bandwidth. It sits between a device and the transport and touches no socket; its waits use
 * the run's clock, its randomness is the device's own.
 */
import type { Clock } from '../../fixtures/clock.ts';
import type { Random } from '../../fixtures/random.ts';
import type { LinkShape } from '../plan/policy.ts';
import { type Circumstances, type ClientError, TimeoutError, TransportError } from './errors.ts';
import { FrameLink } from './frame-link.ts';
import type { HttpAnswer, HttpRequest, OpenAnswer } from './transport.ts';

/** Sends requests: the transport itself, or a link in front of it. */
export interface Exchanger {
  exchange(request: HttpRequest): Promise<HttpAnswer>;
  open(request: HttpRequest): Promise<OpenAnswer>;
}

export interface LinkOptions {
  readonly clock: Clock;
  /** The device's own generator, drawn from in the order of its exchanges. */
  readonly random: Random;
  /** Waits; throws FleetStopped when the run ends first. */
  readonly rest: (waitMs: number) => Promise<void>;
  /** How long a device waits for an exchange that stalls. */
  readonly requestTimeLimitMs: number;
}

/**
 * Where an exchange is lost: its request, its response, or the response's body after this share.
 */
type LossPoint = 'request' | 'answer' | { readonly afterShare: number };

/** The outcome of one exchange. */
interface Fate {
  readonly lostAt: LossPoint | undefined;
  /** True when the connection breaks immediately; otherwise it stalls until the timeout. */
  readonly byReset: boolean;
}

/** A request that was delivered. */
interface Transmission {
  readonly request: HttpRequest;
  readonly fate: Fate;
  /** Ends the exchange with its planned loss. */
  lose(): Promise<never>;
}

/** The simulated network of one device: latency, jitter, loss and bandwidth. */
export class Link {
  readonly #shape: LinkShape;
  readonly #options: LinkOptions;

  constructor(shape: LinkShape, options: LinkOptions) {
    this.#shape = shape;
    this.#options = options;
  }

  /** Returns the transport with this network in front of it. */
  over(transport: Exchanger): Exchanger {
    return {
      exchange: (request) => this.#exchange(transport, request),
      open: (request) => this.#open(transport, request),
    };
  }

  /**
   * Returns the round-trip delay of a socket handshake, or undefined when it is lost.
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
   * Returns the two directions of a socket.
   * @param opening number of sockets that the device opened before
   * @param broken called when the network breaks the connection
   */
  frames(opening: number, broken: () => void) {
    const { clock, random } = this.#options;
    const way = (name: string): FrameLink =>
      new FrameLink({ shape: this.#shape, clock, random: random.stream(name), broken });
    return { up: way(`frames/${opening}/up`), down: way(`frames/${opening}/down`) };
  }

  async #exchange(transport: Exchanger, request: HttpRequest): Promise<HttpAnswer> {
    const transmission = await this.#sent(request);
    const answer = await transport.exchange(transmission.request);
    if (transmission.fate.lostAt !== undefined) return transmission.lose();
    await this.#options.rest(this.#transferMs(answer.body.length));
    return answer;
  }

  async #open(transport: Exchanger, request: HttpRequest): Promise<OpenAnswer> {
    const transmission = await this.#sent(request);
    const answer = await transport.open(transmission.request);
    const bodyBytes = Number(answer.headers['content-length'] ?? 0);
    const { lostAt } = transmission.fate;
    if (lostAt === 'answer' || (lostAt !== undefined && bodyBytes === 0)) {
      answer.discard();
      return transmission.lose();
    }
    return { ...answer, chunks: () => this.#paced(answer, transmission) };
  }

  /**
   * Waits for both directions before the request is sent: network delay must not count as server
   * latency, nor make the request late.
   * @throws TransportError, TimeoutError when the request is lost; FleetStopped
   */
  async #sent(request: HttpRequest): Promise<Transmission> {
    const { clock, rest } = this.#options;
    const startedMs = clock.monotonicMs();
    const fate = this.#fate();
    const sentBytes = Buffer.byteLength(request.body ?? '');
    await rest(this.#latencyMs() + this.#latencyMs() + this.#transferMs(sentBytes));
    const lose = (): Promise<never> => this.#lose(fate, request, startedMs);
    if (fate.lostAt === 'request') return lose();
    const { plannedMs } = request;
    if (plannedMs === undefined) return { request, fate, lose };
    const shiftedMs = plannedMs + clock.monotonicMs() - startedMs;
    return { request: { ...request, plannedMs: shiftedMs }, fate, lose };
  }

  /** Passes the body on at the network's bandwidth, up to the point of loss. */
  async *#paced(answer: OpenAnswer, { fate, lose }: Transmission): AsyncGenerator<Buffer> {
    const { lostAt } = fate;
    const length = Number(answer.headers['content-length'] ?? 0);
    let leftBytes = typeof lostAt === 'object' ? Math.floor(length * lostAt.afterShare) : undefined;
    for await (const chunk of this.#inPieces(answer.chunks())) {
      const through = chunk.subarray(0, leftBytes ?? chunk.length);
      await this.#options.rest(this.#transferMs(through.length));
      if (through.length > 0) yield through;
      if (leftBytes === undefined) continue;
      leftBytes -= through.length;
      if (through.length < chunk.length) await lose();
    }
  }

  /**
   * Small pieces, as on a slow network: a body that is cut off midway delivers what came before.
   */
  async *#inPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const { bytesPerSecond } = this.#shape;
    const chunkMax =
      bytesPerSecond === 0 ? Number.POSITIVE_INFINITY : Math.ceil(bytesPerSecond / 10);
    for await (const chunk of chunks) {
      for (let start = 0; start < chunk.length; start += chunkMax) {
        yield chunk.subarray(start, start + chunkMax);
      }
    }
  }

  #fate(): Fate {
    const { random } = this.#options;
    // Always the same number of draws, so that one more loss does not change the other outcomes.
    const lost = random.fraction();
    const where = random.fraction();
    const how = random.fraction();
    const points: readonly LossPoint[] = ['request', 'answer', { afterShare: random.fraction() }];
    const isLost = lost < this.#shape.lossShare;
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

  async #lose(fate: Fate, request: HttpRequest, startedMs: number): Promise<never> {
    const { clock, rest, requestTimeLimitMs } = this.#options;
    const waitedMs = clock.monotonicMs() - startedMs;
    if (!fate.byReset) await rest(Math.max(0, requestTimeLimitMs - waitedMs));
    const { operation, caller } = request;
    const elapsedMs = clock.monotonicMs() - startedMs;
    const circumstances: Circumstances = { operation, caller, elapsedMs };
    throw lostExchange(fate, requestTimeLimitMs, circumstances);
  }
}

function lostExchange(
  { byReset }: Fate,
  requestTimeLimitMs: number,
  circumstances: Circumstances,
): ClientError {
  if (byReset) return new TransportError('LINK_LOST', circumstances);
  return new TimeoutError(requestTimeLimitMs, circumstances);
}
