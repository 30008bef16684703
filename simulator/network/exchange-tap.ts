/**
 * Lets somebody look on at what passes between one device and the server: each request as it is
 * sent and each answer as it comes. Changes neither.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../fixtures/clock.ts';
import type { Exchanger } from './link.ts';
import type { HttpRequest } from './transport.ts';

/** Bytes of an answer's body that are shown; of a longer one nothing is. */
const SHOWN_MAX_BYTES = 256 * 1024;

/** One request of a device that is looked at, and what came of it. */
export interface WatchedExchange {
  /** Index of the device. */
  readonly device: number;
  /** Id of the contract's operation. */
  readonly operation: string;
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /** Milliseconds since the Unix epoch; a file has ended once its head has come. */
  readonly sentMs: number;
  readonly endedMs: number;
  /** Absent when none came. Its body is absent when it is a file, or too long. */
  readonly answer?: {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly body?: Buffer;
  };
}

/** What a tap is made of. */
export interface ExchangeTapOptions {
  readonly device: number;
  /** The base URL of the server. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly saw: (exchange: WatchedExchange) => void;
}

/** Looks on at one device. */
export class ExchangeTap {
  readonly #options: ExchangeTapOptions;

  constructor(options: ExchangeTapOptions) {
    this.#options = options;
  }

  /** The same transport, looked at. */
  over(transport: Exchanger): Exchanger {
    return {
      exchange: (request) =>
        this.#seen(
          request,
          () => transport.exchange(request),
          ({ status, headers, body }) => {
            return { status, headers, ...(body.length <= SHOWN_MAX_BYTES && { body }) };
          },
        ),
      open: (request) =>
        this.#seen(
          request,
          () => transport.open(request),
          ({ status, headers }) => {
            return { status, headers };
          },
        ),
    };
  }

  async #seen<Answer>(
    request: HttpRequest,
    send: () => Promise<Answer>,
    shownOf: (answer: Answer) => WatchedExchange['answer'],
  ): Promise<Answer> {
    const sentMs = this.#options.clock.now();
    try {
      const answer = await send();
      this.#tell(request, sentMs, shownOf(answer));
      return answer;
    } catch (error) {
      this.#tell(request, sentMs, undefined);
      throw error;
    }
  }

  #tell(request: HttpRequest, sentMs: number, answer: WatchedExchange['answer']): void {
    const { device, baseUrl, clock, saw } = this.#options;
    const { operation, method, target, headers, body } = request;
    const url = typeof target === 'string' ? baseUrl.replace(/\/$/, '') + target : target.href;
    const endedMs = clock.now();
    saw({
      device,
      operation,
      method,
      url,
      headers,
      body,
      sentMs,
      endedMs,
      ...(answer && { answer }),
    });
  }
}
