/** Requests that a client sends on one connection without waiting for their answers. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { inNextRound } from '../../fixtures/clock.ts';

/** Requests of one connection in a round of the event loop, after which reading it pauses. */
const REQUESTS_IN_ROUND = 32;

/**
 * Lets the other connections have their turn after each piece of one that is full of requests: the
 * system would hand over megabytes of them in one round.
 */
export function boundPipelining(server: Server): void {
  const counts = new Map<Socket, number>();
  server.on('request', ({ socket }) => {
    if (counts.size === 0) inNextRound(() => counts.clear());
    const count = (counts.get(socket) ?? 0) + 1;
    counts.set(socket, count);
    if (count !== REQUESTS_IN_ROUND) return;
    socket.pause();
    inNextRound(() => socket.resume());
  });
}
