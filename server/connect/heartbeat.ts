/** Checks that a device's socket is alive: pings it, and cuts it when nothing is received. */
import type { WebSocket } from 'ws';
import type { Clock } from '../../fixtures/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';

const pingMs = limits.websocketPingSeconds * 1000;
const silenceMaxMs = limits.websocketSilenceMaxSeconds * 1000;

/** Open sockets that are no longer watched. */
const unwatched = new WeakSet<WebSocket>();

/** Stops the pings, and no longer cuts the socket for silence. */
export function stopHeartbeat(socket: WebSocket): void {
  unwatched.add(socket);
}

/** Starts watching; any frame, ping or pong is a sign of life. Returns a function that stops it. */
export function watchHeartbeat(socket: WebSocket, clock: Clock): () => void {
  let heardMs = clock.monotonicMs();
  const hear = (): void => {
    heardMs = clock.monotonicMs();
  };
  for (const event of ['message', 'ping', 'pong']) socket.on(event, hear);
  const pinging = clock.every(pingMs, () => {
    if (!unwatched.has(socket)) socket.ping(String(limits.websocketSilenceMaxSeconds));
  });
  const check = (): void => {
    if (unwatched.has(socket)) return;
    const leftMs = heardMs + silenceMaxMs - clock.monotonicMs();
    if (leftMs > 0) deadline = clock.after(leftMs, check, true);
    else {
      // The close event comes later: a clock that jumps ahead would send a thousand pings until
      // then.
      pinging.cancel();
      socket.terminate();
    }
  };
  let deadline = clock.after(silenceMaxMs, check, true);
  return () => {
    pinging.cancel();
    deadline.cancel();
  };
}
