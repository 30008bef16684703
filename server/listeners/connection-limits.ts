/**
 * Limits on slow clients of a listener: headers, bodies, unread responses, connections. Websockets
 * are exempt, because they have their own pings.
 */
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { ConnectionLimits } from '../settings.ts';
import { TransferRate } from './transfer.ts';

/** Maximum number of headers of one request; widely used servers have the same limit. */
export const HEADERS_MAX = 100;

/**
 * Maximum time for a surplus connection to send its request, and for WebSockets to close at
 * shutdown.
 */
export const RESPONSE_READ_MAX_MS = 2000;

/** Returns the options of a node:http server. */
export function connectionOptions({
  headersMaxMs,
  checkMs,
  headersMaxBytes,
}: ConnectionLimits): ServerOptions {
  return {
    headersTimeout: headersMaxMs,
    // A body may take any time while it makes progress.
    requestTimeout: 0,
    connectionsCheckingInterval: checkMs,
    maxHeaderSize: headersMaxBytes,
  };
}

/** Closes connections whose clients stall while sending a body or reading a response. */
export function enforceConnectionLimits(server: Server, limits: ConnectionLimits): void {
  const { transferIdleMs, checkMs } = limits;
  server.timeout = transferIdleMs;
  server.on('timeout', (socket: Socket) => {
    // While a connection is idle, Node sets its timeout to the keep-alive timeout. A request in
    // progress may be silent for long, for example while a device reads a file; only an unread
    // response is a stall of the client.
    const isIdle = socket.timeout !== server.timeout;
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
  const transfers = new Map<Socket, TransferRate>();
  const watch = (socket: Socket): void => {
    transfers.set(socket, new TransferRate(socket, limits));
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
