/** Requests that a client sends on one connection without waiting for their answers. */
import type { Socket } from 'node:net';
import { inNextRound } from '../../fixtures/clock.ts';

/** Requests of one connection in a round of the event loop; the system hands over megabytes in one. */
const REQUESTS_IN_ROUND_MAX = 500;

/**
 * Counts the requests of each connection in a round. The function returned counts one, and returns
 * false for one too many, whose connection it ends: all others would wait until each is answered.
 */
export function boundPipelining(): (connection: Socket) => boolean {
  const counts = new Map<Socket, number>();
  return (connection) => {
    if (counts.size === 0) inNextRound(() => counts.clear());
    const count = (counts.get(connection) ?? 0) + 1;
    counts.set(connection, count);
    if (count <= REQUESTS_IN_ROUND_MAX) return true;
    connection.destroy();
    return false;
  };
}
