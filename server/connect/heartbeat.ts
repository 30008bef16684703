/** Watches that a device's socket is alive: pings it, and cuts it when nothing is heard. */
import type { WebSocket } from 'ws';
import type { Clock } from '../../fixtures/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';

const pingMs = limits.websocketPingSeconds * 1000;
const silenceMaxMs = limits.websocketSilenceMaxSeconds * 1000;

/** Begins to watch; any frame, ping or pong is a sign of life. Returns what ends the watch. */
export function watchHeartbeat(socket: WebSocket, clock: Clock): () => void {
  let heardMs = clock.monotonicMs();
  const hear = (): void => {
    heardMs = clock.monotonicMs();
  };
  for (const event of ['message', 'ping', 'pong']) socket.on(event, hear);
  const pinging = clock.every(pingMs, () => {
    socket.ping(String(limits.websocketSilenceMaxSeconds));
  });
  const check = (): void => {
    const leftMs = heardMs + silenceMaxMs - clock.monotonicMs();
    if (leftMs > 0) deadline = clock.after(leftMs, check, true);
    else socket.terminate();
  };
  let deadline = clock.after(silenceMaxMs, check, true);
  return () => {
    pinging.cancel();
    deadline.cancel();
  };
}
