/** Requests that a client sends on one connection without waiting for their answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { inNextRound } from '../../fixtures/clock.ts';

/** Nothing more is read from a connection on which so many wait, not even that it has closed. */
const READ_ON_BELOW = 16;
/** What has been read in one piece, up to 64 KiB, may hold thousands. */
const WAITING_MAX = 500;

/** How many wait, by connection. */
const waiting = new WeakMap<Socket, number>();

/**
 * Calls `handle` once the requests before it on the connection have their answers, in a round of the
 * event loop of its own; never when the connection closes before. A connection with too many that
 * wait is closed.
 */
export function inOrder(request: IncomingMessage, response: ServerResponse, handle: () => void) {
  // Node gives the connection to one response at a time.
  if (response.socket) {
    handle();
    return;
  }
  const { socket } = request;
  const before = waiting.get(socket);
  if (before === WAITING_MAX) {
    socket.destroy();
    return;
  }
  // Node starts to read again with each request that it is done with.
  if (before === undefined) socket.on('resume', () => isFull(socket) && socket.pause());
  waiting.set(socket, (before ?? 0) + 1);
  if (isFull(socket)) socket.pause();
  response.once('socket', () => {
    const wasFull = isFull(socket);
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
    if (wasFull && !isFull(socket)) socket.resume();
    inNextRound(() => {
      if (!socket.destroyed) handle();
    });
  });
}

function isFull(socket: Socket): boolean {
  return (waiting.get(socket) ?? 0) >= READ_ON_BELOW;
}
