/** Watches that a device's socket is alive: pings it, and cuts it when nothing is heard. */
import type { WebSocket } from 'ws';
import type { Clock } from '../../fixtures/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';

const pingMs = limits.websocketPingSeconds * 1000;
const silenceMaxMs = limits.websocketSilenceMaxSeconds * 1000;

/** Sockets that nobody watches any more although they are open. */
const unwatched = new WeakSet<WebSocket>();

/** Sends no further ping, and cuts the socket for its silence no more. */
export function stopHeartbeat(socket: WebSocket): void {
  unwatched.add(socket);
}

/** Begins to watch; any frame, ping or pong is a sign of life. Returns what ends the watch. */
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
      // Its end is told only later: a clock that leaps would ping it a thousand times until then.
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
