/**
 * The network between one device and the server, shaped in this process: latency, jitter, loss and
 * bandwidth. It stands between a device and the transport and touches no socket; all its waits
 * are the run's, all its chance the device's.
 */
import type { Clock } from '../../fixtures/clock.ts';
import type { Random } from '../../fixtures/random.ts';
import type { LinkShape } from '../plan/policy.ts';
import { type Circumstances, type ClientError, TimeoutError, TransportError } from './errors.ts';
import { FrameLink } from './frame-link.ts';
import type { HttpAnswer, HttpRequest, OpenAnswer } from './transport.ts';

/** Who sends requests: the transport itself, or a link before it. */
export interface Exchanger {
  exchange(request: HttpRequest): Promise<HttpAnswer>;
  open(request: HttpRequest): Promise<OpenAnswer>;
}

/** What a link lives by. */
export interface LinkOptions {
  readonly clock: Clock;
  /** The device's own, drawn from in the order of its exchanges. */
  readonly random: Random;
  /** Waits; throws FleetStopped when the run ends first. */
  readonly rest: (waitMs: number) => Promise<void>;
  /** How long a device waits for an exchange that stalls. */
  readonly requestTimeLimitMs: number;
}

/** Where an exchange is lost: its request, its answer, or the answer's body after this share. */
type LossPoint = 'request' | 'answer' | { readonly afterShare: number };

/** What becomes of one exchange. */
interface Fate {
  readonly lostAt: LossPoint | undefined;
  /** Whether the connection breaks at once, or says nothing until the time is up. */
  readonly byReset: boolean;
}

/** A request that has come through. */
interface Passage {
  readonly request: HttpRequest;
  readonly fate: Fate;
  /** Ends the exchange as its fate says. */
  lose(): Promise<never>;
}

/** One device's network. */
export class Link {
  readonly #shape: LinkShape;
  readonly #options: LinkOptions;

  constructor(shape: LinkShape, options: LinkOptions) {
    this.#shape = shape;
    this.#options = options;
  }

  /** The same transport with this network before it. */
  over(transport: Exchanger): Exchanger {
    return {
      exchange: (request) => this.#exchange(transport, request),
      open: (request) => this.#open(transport, request),
    };
  }

  /**
   * What becomes of the handshake of a socket: how long it is on its way, there and back, or
   * undefined when it is lost.
   * @param opening how many the device has begun before
   */
  handshakeMs(opening: number): number | undefined {
    const chance = this.#options.random.stream(`handshake/${opening}`);
    const { latencyMs, jitterMs, lossShare } = this.#shape;
    if (chance.fraction() < lossShare) return undefined;
    const oneWayMs = (): number => latencyMs + jitterMs * (2 * chance.fraction() - 1);
    return Math.max(0, oneWayMs()) + Math.max(0, oneWayMs());
  }

  /**
   * The two directions of a socket.
   * @param opening how many the device has opened before
   * @param broken called when the network breaks the connection
   */
  frames(opening: number, broken: () => void) {
    const { clock, random } = this.#options;
    const way = (name: string): FrameLink =>
      new FrameLink({ shape: this.#shape, clock, random: random.stream(name), broken });
    return { up: way(`frames/${opening}/up`), down: way(`frames/${opening}/down`) };
  }

  async #exchange(transport: Exchanger, request: HttpRequest): Promise<HttpAnswer> {
    const passage = await this.#sent(request);
    const answer = await transport.exchange(passage.request);
    if (passage.fate.lostAt !== undefined) return passage.lose();
    await this.#options.rest(this.#transferMs(answer.body.length));
    return answer;
  }

  async #open(transport: Exchanger, request: HttpRequest): Promise<OpenAnswer> {
    const passage = await this.#sent(request);
    const answer = await transport.open(passage.request);
    const bodyBytes = Number(answer.headers['content-length'] ?? 0);
    const { lostAt } = passage.fate;
    if (lostAt === 'answer' || (lostAt !== undefined && bodyBytes === 0)) {
      answer.discard();
      return passage.lose();
    }
    return { ...answer, chunks: () => this.#paced(answer, passage) };
  }

  /**
   * Waits for both ways at once, before the request goes out: what the network takes is not the
   * server's latency, nor does it make the request late.
   * @throws TransportError, TimeoutError when the request is lost; FleetStopped
   */
  async #sent(request: HttpRequest): Promise<Passage> {
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

  /** Lets the body through as fast as the network carries it, up to where it is lost. */
  async *#paced(answer: OpenAnswer, { fate, lose }: Passage): AsyncGenerator<Buffer> {
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

  /** As they come by a slow network: who is cut off midway has what came before. */
  async *#inPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const { bytesPerSecond } = this.#shape;
    const most = bytesPerSecond === 0 ? Number.POSITIVE_INFINITY : Math.ceil(bytesPerSecond / 10);
    for await (const chunk of chunks) {
      for (let start = 0; start < chunk.length; start += most) {
        yield chunk.subarray(start, start + most);
      }
    }
  }

  #fate(): Fate {
    const { random } = this.#options;
    // Always as many draws, so that one loss more does not change what becomes of the others.
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
