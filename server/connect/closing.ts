/** How sockets are closed: the codes of RFC 6455, section 7.4.1, and closing many at once. */
import type { WebSocket } from 'ws';
import { systemClock } from '../../fixtures/base/clock.ts';

/** Codes that the server closes with. */
export const closeCodes = {
  goingAway: 1001,
  protocolError: 1002,
  unsupportedData: 1003,
  invalidPayload: 1007,
  policyViolation: 1008,
  tooLarge: 1009,
  internalError: 1011,
  tryAgainLater: 1013,
} as const;

/** A close frame holds 125 bytes, two of which are the code. */
const REASON_MAX_BYTES = 123;
const GRACE_MS = 1000;

/** Closes with a reason of any length, truncated to fit into the frame. */
export function closeWith(socket: WebSocket, code: number, reason: string): void {
  const bytes = Buffer.from(reason);
  const fitting = bytes.subarray(0, REASON_MAX_BYTES).toString();
  // Truncation may split a character. The decoder replaces the rest of it by U+FFFD, whose three
  // bytes may not fit, so it is removed.
  const text =
    bytes.length > REASON_MAX_BYTES ? fitting.replace(/(?<!\uFFFD)\uFFFD+$/, '') : reason;
  socket.close(code, text);
}

/**
 * Sends the reason and ends the connection at once, which frees all memory the library holds for
 * it.
 */
export function dropSocket(socket: WebSocket): void {
  // The frame is sent before the connection ends, unless the other side has stopped reading.
  closeWith(socket, closeCodes.tryAgainLater, 'the server is transferring too many bytes');
  socket.terminate();
}

/**
 * Closes every socket as going away, and terminates those that do not answer within a second. The
 * second is measured on the system clock, because nobody advances an adjustable clock during shutdown.
 */
export async function closeAll(sockets: Iterable<WebSocket>, reason: string): Promise<void> {
  const closing = [...sockets].map(
    (socket) =>
      new Promise<void>((resolve) => {
        const timer = systemClock.after(GRACE_MS, () => socket.terminate());
        socket.once('close', () => {
          timer.cancel();
          resolve();
        });
        socket.close(closeCodes.goingAway, reason);
      }),
  );
  await Promise.all(closing);
}
