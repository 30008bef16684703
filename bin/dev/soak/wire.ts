/** Sends HTTP requests as raw bytes. */
import { connect } from 'node:net';
import { systemClock } from '../../../fixtures/base/clock.ts';

/** Longest wait for a response, in milliseconds; less than the server's own limits. */
const RESPONSE_MAX_MS = 10_000;

/** Returns the bytes of a request with these lines as its head. Each character becomes one byte. */
export function requestBytes(lines: readonly string[], body: Uint8Array = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

/**
 * Sends a request on a new connection. Resolves with the status; with 0 when the connection ended
 * without one, with -1 when nothing arrived in time.
 */
export function statusOf(port: number, bytes: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let response = '';
    const timer = systemClock.after(RESPONSE_MAX_MS, () => settle(-1));
    const settle = (status: number): void => {
      timer.cancel();
      socket.destroy();
      resolve(status);
    };
    socket.on('data', (chunk: Buffer) => {
      response += chunk.toString('latin1');
      const status = /^HTTP\/1\.1 (\d{3})/.exec(response)?.[1];
      // A 1xx response is followed by another one.
      if (status !== undefined && status !== '100') settle(Number(status));
      else if (status === '100') response = response.slice(response.indexOf('\r\n\r\n') + 4);
    });
    socket.on('end', () => settle(0));
    socket.on('error', () => settle(0));
    socket.on('connect', () => socket.end(bytes));
  });
}
