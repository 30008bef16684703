/**
 * Detects stalled connections: a request body that does not arrive, or a response that is not read.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from '../settings.ts';

type TransferLimits = Pick<ConnectionLimits, 'transferIdleMs' | 'transferRateMin'>;

/**
 * The client stopped sending a body, or sends it too slowly; the message says both what and the way
 * out.
 */
export class BodyStalled extends Error {
  override readonly name = 'BodyStalled';
  /** Node's code for a request that takes too long. */
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
  /** The stall, as the end of a sentence about the body. */
  readonly what: string;
  /** The remedy, as an imperative. */
  readonly remedy: string;

  constructor(what: string, remedy: string) {
    super(`the body stalled: ${what}; ${remedy}`);
    this.what = what;
    this.remedy = remedy;
  }
}

/**
 * The properties of a socket that are needed here. Node sets `parser` while HTTP reads the
 * connection; its types lack it.
 */
interface TransferSocket extends Pick<Socket, 'bytesRead' | 'bytesWritten' | 'writableLength'> {
  readonly parser?: { readonly incoming: IncomingState | null } | null;
}

type IncomingState = Pick<IncomingMessage, 'complete' | 'readableFlowing' | 'readableLength'>;

type Direction = 'body' | 'response';

/** Measures the transfer rate of one connection while the server waits for its client. */
export class TransferRate {
  readonly #connection: TransferSocket;
  readonly #limits: TransferLimits;
  #direction: Direction | undefined;
  /** Start of the rate measurement, and the number of bytes transferred before it. */
  #sinceMs = 0;
  #sinceBytes = 0;
  #lastBytes = 0;
  #lastMs = 0;

  constructor(connection: TransferSocket, limits: TransferLimits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  /**
   * Returns how the client stalls; undefined when it makes progress, or when the server does not
   * wait for it.
   */
  stallAt(atMs: number): BodyStalled | 'unread' | undefined {
    const nowMs = Math.round(atMs);
    const direction = this.#waitsFor();
    const bytes =
      direction === 'response' ? readBytes(this.#connection) : this.#connection.bytesRead;
    if (direction === undefined || direction !== this.#direction) {
      this.#direction = direction;
      this.#measureFrom(nowMs, bytes);
      this.#lastMs = nowMs;
      return undefined;
    }
    if (bytes !== this.#lastBytes) {
      this.#lastBytes = bytes;
      this.#lastMs = nowMs;
    }
    const { transferIdleMs, transferRateMin } = this.#limits;
    // Node's own timeout detects a response that is not read at all.
    if (direction === 'body' && nowMs - this.#lastMs >= transferIdleMs) {
      return new BodyStalled(
        `none of it arrived for ${nowMs - this.#lastMs} ms`,
        'send it without such pauses, or start the server with a longer --transfer-idle',
      );
    }
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < transferIdleMs) return undefined;
    const requiredBytes = (transferRateMin * elapsedMs) / 1000;
    if (bytes - this.#sinceBytes >= requiredBytes) {
      this.#measureFrom(nowMs, bytes);
      return undefined;
    }
    if (direction === 'body') {
      return new BodyStalled(
        `${bytes - this.#sinceBytes} bytes of it arrived in ${elapsedMs} ms`,
        `send at least ${transferRateMin} bytes per second, or start the server with a lower --transfer-rate-min`,
      );
    }
    // A write counts as read only when it is complete. The client is too slow only if even all
    // bytes handed to the connection are too few.
    const inFlightBytes = this.#connection.bytesWritten - this.#sinceBytes;
    return inFlightBytes < requiredBytes ? 'unread' : undefined;
  }

  #measureFrom(nowMs: number, bytes: number): void {
    this.#sinceMs = nowMs;
    this.#sinceBytes = bytes;
    this.#lastBytes = bytes;
  }

  /** Returns what the server waits for; undefined while the client waits for the server. */
  #waitsFor(): Direction | undefined {
    if (this.#connection.writableLength > 0) return 'response';
    const request = this.#connection.parser?.incoming;
    const waits = request && !request.complete && request.readableFlowing === true;
    return waits && request.readableLength === 0 ? 'body' : undefined;
  }
}

/** Bytes that the operating system has accepted for the client. */
function readBytes({ bytesWritten, writableLength }: TransferSocket): number {
  return bytesWritten - writableLength;
}
