/**
 * Limits on slow clients of a listener: headers, bodies, unread answers, connections. Not for its
 * websockets, which have their own pings.
 */
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '../../fixtures/clock.ts';
import type { ConnectionLimits } from '../settings.ts';
import { Transfer } from './transfer.ts';

/** Of one request; as many as widespread servers take. */
export const HEADERS_MAX = 100;

/** How long a connection beyond the limit may take to send its request, and a farewell to leave. */
export const RESPONSE_READ_MAX_MS = 2000;

/** Returns the options of a node:http server. */
export function connectionOptions({
  headersMaxMs,
  checkMs,
  headersMaxBytes,
}: ConnectionLimits): ServerOptions {
  return {
    headersTimeout: headersMaxMs,
    // A body may take as long as it goes on.
    requestTimeout: 0,
    connectionsCheckingInterval: checkMs,
    maxHeaderSize: headersMaxBytes,
  };
}

/** Ends the connections of a server whose clients stall in a body, or in reading an answer. */
export function enforceConnectionLimits(server: Server, limits: ConnectionLimits): void {
  const { transferIdleMs, checkMs } = limits;
  server.timeout = transferIdleMs;
  server.on('timeout', (socket: Socket) => {
    // Between two requests Node sets the keep-alive timeout. A request in progress may be silent
    // for long, for example while a device reads a file; only an unread answer is the client's
    // fault.
    const isIdle = socket.timeout !== server.timeout;
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
  const transfers = new Map<Socket, Transfer>();
  const watch = (socket: Socket): void => {
    transfers.set(socket, new Transfer(socket, limits));
    socket.once('close', () => transfers.delete(socket));
  };
  server.on('connection', watch);
  server.on('secureConnection', watch);
  const checks = systemClock.every(checkMs, () => {
    const nowMs = systemClock.monotonicMs();
    for (const [socket, transfer] of transfers) {
      const stall = transfer.stallAt(nowMs);
      if (stall === 'unread') socket.destroy();
      else if (stall) server.emit('clientError', stall, socket);
    }
  });
  server.once('close', () => checks.cancel());
}
