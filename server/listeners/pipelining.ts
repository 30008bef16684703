/**
 * Orders pipelined requests: those that a client sends on one connection before it has the
 * responses.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { runInNextIteration } from '../../fixtures/base/clock.ts';

/**
 * Reading from a connection stops while this many of its requests wait, so its closing is not
 * noticed either.
 */
const READ_ON_BELOW = 16;
/**
 * A connection with this many waiting requests is closed: a single chunk of 64 KiB may contain
 * thousands.
 */
const WAITING_MAX = 500;

/** Number of waiting requests by connection. */
const waiting = new WeakMap<Socket, number>();

/**
 * Calls `handle` in a separate iteration of the event loop once all earlier requests of its
 * connection are answered, or at once if there are none. Never calls it when the connection closes first.
 * Closes a connection on which too many requests wait.
 */
export function keepOrder(request: IncomingMessage, response: ServerResponse, handle: () => void) {
  // Node assigns the connection to one response at a time.
  if (response.socket) {
    handle();
    return;
  }
  const { socket } = request;
  const waitingCount = waiting.get(socket);
  if (waitingCount === WAITING_MAX) {
    socket.destroy();
    return;
  }
  // Node resumes reading after each finished request, so a full connection must be paused again.
  if (waitingCount === undefined) socket.on('resume', () => isFull(socket) && socket.pause());
  waiting.set(socket, (waitingCount ?? 0) + 1);
  if (isFull(socket)) socket.pause();
  response.once('socket', () => {
    const wasFull = isFull(socket);
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
    if (wasFull && !isFull(socket)) socket.resume();
    runInNextIteration(() => {
      if (!socket.destroyed) handle();
    });
  });
}

function isFull(socket: Socket): boolean {
  return (waiting.get(socket) ?? 0) >= READ_ON_BELOW;
}
