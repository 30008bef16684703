/**
 * Limits on slow clients of a listener: headers, whole requests, unread answers, connections. Not
 * for its websockets, which have their own pings.
 */
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from '../settings.ts';

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
