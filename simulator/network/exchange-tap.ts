/** Observes the exchanges between one device and the server, without changing them. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../fixtures/base/clock.ts';
import type { RequestSender } from './simulated-network.ts';
import type { HttpRequest } from './transport.ts';

/** Largest response body passed to the observer, in bytes; a larger body is left out. */
const SHOWN_MAX_BYTES = 256 * 1024;

/** One observed request of a device and its response, if any. */
export interface WatchedExchange {
  /** Index of the device in the fleet. */
  readonly device: number;
  /** ID of the contract's operation. */
  readonly operation: string;
  readonly method: string;
  /** Absolute URL of the request. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /**
   * Milliseconds since the Unix epoch. A file download ends here when the head of the response
   * arrives.
   */
  readonly sentMs: number;
  readonly endedMs: number;
  /**
   * The response; absent when none arrived. Its body is absent for a file or a body that is too
   * large.
   */
  readonly response?: {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly body?: Buffer;
  };
}

export interface ExchangeTapOptions {
  readonly device: number;
  /** The base URL of the server. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly onExchange: (exchange: WatchedExchange) => void;
}

/** Observes the exchanges of one device and passes them to `onExchange`. */
export class ExchangeTap {
  readonly #options: ExchangeTapOptions;

  constructor(options: ExchangeTapOptions) {
    this.#options = options;
  }

  /** Returns a transport that passes every request on and observes it. */
  wrap(transport: RequestSender): RequestSender {
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

  async #seen<HttpResponse>(
    request: HttpRequest,
    send: () => Promise<HttpResponse>,
    shownOf: (response: HttpResponse) => WatchedExchange['response'],
  ): Promise<HttpResponse> {
    const sentMs = this.#options.clock.now();
    try {
      const response = await send();
      this.#notify(request, sentMs, shownOf(response));
      return response;
    } catch (error) {
      this.#notify(request, sentMs, undefined);
      throw error;
    }
  }

  #notify(request: HttpRequest, sentMs: number, response: WatchedExchange['response']): void {
    const { device, baseUrl, clock, onExchange } = this.#options;
    const { operation, method, target, headers, body } = request;
    const url = typeof target === 'string' ? baseUrl.replace(/\/$/, '') + target : target.href;
    const endedMs = clock.now();
    onExchange({
      device,
      operation,
      method,
      url,
      headers,
      body,
      sentMs,
      endedMs,
      ...(response && { response }),
    });
  }
}
