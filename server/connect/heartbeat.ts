/**
 * Checks that a device's socket is alive: sends pings, and terminates the socket when it stays
 * silent for too long.
 */
import type { WebSocket } from 'ws';
import type { Clock } from '../../fixtures/base/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';

const PING_MS = limits.websocketPingSeconds * 1000;
const idleMaxMs = limits.websocketIdleMaxSeconds * 1000;

/** Open sockets for which the heartbeat was stopped. */
const unwatched = new WeakSet<WebSocket>();

/** Stops the pings, and the termination of an idle socket. */
export function stopHeartbeat(socket: WebSocket): void {
  unwatched.add(socket);
}

/**
 * Starts to watch the socket; every message, ping or pong is a sign of life. Returns a function
 * that stops watching.
 */
export function watchHeartbeat(socket: WebSocket, clock: Clock): () => void {
  let lastActivityMs = clock.monotonicMs();
  const noteActivity = (): void => {
    lastActivityMs = clock.monotonicMs();
  };
  for (const event of ['message', 'ping', 'pong']) socket.on(event, noteActivity);
  const pinging = clock.every(PING_MS, () => {
    if (!unwatched.has(socket)) socket.ping(String(limits.websocketIdleMaxSeconds));
  });
  const check = (): void => {
    if (unwatched.has(socket)) return;
    const leftMs = lastActivityMs + idleMaxMs - clock.monotonicMs();
    if (leftMs > 0) deadline = clock.after(leftMs, check, true);
    else {
      // The close event comes later; until then a clock that jumps ahead would send a thousand
      // pings.
      pinging.cancel();
      socket.terminate();
    }
  };
  let deadline = clock.after(idleMaxMs, check, true);
  return () => {
    pinging.cancel();
    deadline.cancel();
  };
}
