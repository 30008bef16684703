/**
 * Counts the requests of a fleet, and the bytes that they would take on a connection without TLS.
 */
import { vendorNames } from '../../../fixtures/contract/vendor-names.ts';
import type {
  MemoryListener,
  MemoryRequest,
  ResponseHeaders,
} from '../../../server/listeners/memory-listener.ts';

/** Requests and bytes since the meter was created. */
export interface MeteredTraffic {
  readonly requests: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** Sizes of ` HTTP/1.1`, of `: ` and of a line end. */
const VERSION_BYTES = 9;
const COLON_BYTES = 2;
const LINE_END_BYTES = 2;
/** Size of `HTTP/1.1 204 No Content`, the most frequent status line, with its line end. */
const STATUS_LINE_BYTES = 25;
/**
 * Size of headers that only a real connection adds: `Host` and `Connection` in a request,
 * `Connection` and `Keep-Alive` in a response.
 */
const ADDED_TO_REQUEST_BYTES = 48;
const ADDED_TO_RESPONSE_BYTES = 48;

/** Measures the requests of a fleet that pass through it. */
export class TrafficMeter {
  readonly #adjustedTime: string;
  #requests = 0;
  #sentBytes = 0;
  #receivedBytes = 0;

  constructor(headerPrefix: string) {
    this.#adjustedTime = vendorNames(headerPrefix).testbed.time.toLowerCase();
  }

  /** Returns a listener that passes requests to the server through this meter. */
  readonly listenerBefore = (server: MemoryListener): MemoryListener => {
    return (request, reader) => {
      this.#requests += 1;
      this.#sentBytes += requestBytes(request);
      server(request, {
        onHead: (status, headers) => {
          // The header is present only because the clock is controlled.
          const { [this.#adjustedTime]: _time, ...sent } = headers;
          this.#receivedBytes += STATUS_LINE_BYTES + ADDED_TO_RESPONSE_BYTES + headBytes(sent);
          reader.onHead(status, headers);
        },
        onData: (chunk) => {
          this.#receivedBytes += chunk.length;
          reader.onData(chunk);
        },
        onEnd: () => reader.onEnd(),
      });
    };
  };

  get totals(): MeteredTraffic {
    return {
      requests: this.#requests,
      sentBytes: this.#sentBytes,
      receivedBytes: this.#receivedBytes,
    };
  }
}

function requestBytes({ method, target, headers, body }: MemoryRequest): number {
  const line = method.length + 1 + target.length + VERSION_BYTES + LINE_END_BYTES;
  const length = typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0);
  return line + ADDED_TO_REQUEST_BYTES + headBytes(headers) + length;
}

function headBytes(headers: ResponseHeaders | MemoryRequest['headers']): number {
  let bytes = LINE_END_BYTES;
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      bytes += name.length + COLON_BYTES + each.length + LINE_END_BYTES;
    }
  }
  return bytes;
}
