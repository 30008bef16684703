/** Tells when a connection stalls: in the body of a request, or in an answer that is not read. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from '../settings.ts';

type Limits = Pick<ConnectionLimits, 'transferIdleMs' | 'transferRateMin'>;

/** The client has stopped sending its body, or sends too slowly; the message is the sentence. */
export class BodyStalled extends Error {
  override readonly name = 'BodyStalled';
  /** As Node names the end of a request that takes too long. */
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** A connection; Node has the parser while HTTP reads it, which its types do not say. */
interface Connection extends Pick<Socket, 'bytesRead' | 'bytesWritten' | 'writableLength'> {
  readonly parser?: { readonly incoming: Incoming | null } | null;
}

type Incoming = Pick<IncomingMessage, 'complete' | 'readableFlowing' | 'readableLength'>;

type Direction = 'body' | 'answer';

/** What one connection transfers, while the server waits for its client. */
export class Transfer {
  readonly #connection: Connection;
  readonly #limits: Limits;
  #direction: Direction | undefined;
  /** When the rate began to be measured, and the bytes transferred until then. */
  #sinceMs = 0;
  #sinceBytes = 0;
  #lastBytes = 0;
  #lastMs = 0;

  constructor(connection: Connection, limits: Limits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  /** Returns how the client stalls; undefined where it does not, or has nothing to do. */
  stallAt(momentMs: number): BodyStalled | 'unread' | undefined {
    const nowMs = Math.round(momentMs);
    const direction = this.#waitsFor();
    const bytes = direction === 'answer' ? readBytes(this.#connection) : this.#connection.bytesRead;
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
    // Node itself notices an answer of which nothing is read.
    if (direction === 'body' && nowMs - this.#lastMs >= transferIdleMs) {
      return new BodyStalled(
        `the body stalled: none of it arrived for ${nowMs - this.#lastMs} ms; send it without such pauses, or start the server with a longer --transfer-idle`,
      );
    }
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < transferIdleMs) return undefined;
    const wanted = (transferRateMin * elapsedMs) / 1000;
    if (bytes - this.#sinceBytes >= wanted) {
      this.#measureFrom(nowMs, bytes);
      return undefined;
    }
    if (direction === 'body') {
      return new BodyStalled(
        `the body stalled: ${bytes - this.#sinceBytes} bytes of it arrived in ${elapsedMs} ms; send at least ${transferRateMin} bytes per second, or start the server with a lower --transfer-rate-min`,
      );
    }
    // What is being written counts only when all of it has been read.
    const underway = this.#connection.bytesWritten - this.#sinceBytes;
    return underway < wanted ? 'unread' : undefined;
  }

  #measureFrom(nowMs: number, bytes: number): void {
    this.#sinceMs = nowMs;
    this.#sinceBytes = bytes;
    this.#lastBytes = bytes;
  }

  /** What the server waits for; nothing where the client waits for the server. */
  #waitsFor(): Direction | undefined {
    if (this.#connection.writableLength > 0) return 'answer';
    const request = this.#connection.parser?.incoming;
    const waits = request && !request.complete && request.readableFlowing === true;
    return waits && request.readableLength === 0 ? 'body' : undefined;
  }
}

/** Bytes that the system has accepted for the client. */
function readBytes({ bytesWritten, writableLength }: Connection): number {
  return bytesWritten - writableLength;
}
