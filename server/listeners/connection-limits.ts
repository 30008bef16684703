/**
 * Limits on slow clients of a listener: headers, whole requests, unread answers, connections. Not
 * for its websockets, which have their own pings.
 */
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../../fixtures/contract/limits.ts';

/** The bounds of one listener; in real time, independent of tenant clocks. */
export interface ConnectionLimits {
  /** From the connection, or the first byte of a later request, to the end of its headers. */
  readonly headersMaxMs: number;
  /** From there to the end of the request's body; as long as an upload may take. */
  readonly requestMaxMs: number;
  /** Maximum time in which a client reads nothing of an answer. */
  readonly unreadMaxMs: number;
  /** How often a listener checks for requests that take too long. */
  readonly checkMs: number;
  /** Of the request line and all headers together. */
  readonly headersMaxBytes: number;
  /** At the same time, of all listeners of the API; fewer with a low open file limit. */
  readonly connectionsMax: number;
  /** How long a client may go on sending after an answer that did not wait for all of it. */
  readonly discardMaxMs: number;
  /** How much of that is read and discarded before the connection is cut. */
  readonly discardMaxBytes: number;
  /** Of incomplete bodies and messages, of all connections of the API together. */
  readonly underwayMaxBytes: number;
  /** Of answers that wait for clients who do not read them, of all connections of the API. */
  readonly unreadMaxBytes: number;
}

const defaultPatience: ConnectionLimits = {
  headersMaxMs: 20_000,
  requestMaxMs: 300_000,
  unreadMaxMs: 60_000,
  checkMs: 5000,
  headersMaxBytes: 16_384,
  connectionsMax: 50_000,
  discardMaxMs: 10_000,
  discardMaxBytes: 4 * limits.bodyMaxBytes,
  underwayMaxBytes: 134_217_728,
  unreadMaxBytes: 134_217_728,
};

/** Fills in defaults. */
export function completeConnectionLimits(
  given: Partial<ConnectionLimits> | undefined,
): ConnectionLimits {
  return { ...defaultPatience, ...given };
}

/** Of one request; as many as widespread servers take. */
export const HEADERS_MAX = 100;

/** How long a connection beyond the limit may take to send its request, and a farewell to leave. */
export const RESPONSE_READ_MAX_MS = 2000;

/** Returns the options of a node:http server. */
export function connectionOptions({
  headersMaxMs,
  requestMaxMs,
  checkMs,
  headersMaxBytes,
}: ConnectionLimits): ServerOptions {
  return {
    headersTimeout: headersMaxMs,
    requestTimeout: requestMaxMs,
    connectionsCheckingInterval: checkMs,
    maxHeaderSize: headersMaxBytes,
  };
}

/** Ends the connections of a server whose client leaves an answer unread. */
export function enforceConnectionLimits(server: Server, { unreadMaxMs }: ConnectionLimits): void {
  server.timeout = unreadMaxMs;
  server.on('timeout', (socket: Socket) => {
    // Between two requests Node sets the keep-alive timeout. A request in progress may be silent
    // for long, for example while a device reads a file; only an unread answer is the client's
    // fault.
    const isIdle = socket.timeout !== server.timeout;
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
}
