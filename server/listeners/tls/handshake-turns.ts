/**
 * Spreads TLS handshakes over iterations of the event loop: each costs the server a signature, and
 * clients may start as many at once as there are open connections.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { cutOffHandshakeCode, refusedCertificateCode } from '../../http/tls-causes.ts';
import { requestLikeText } from '../../http/unparsed-input.ts';
import type { Turns } from '../../pipeline/turns.ts';
import { plainHttpCode } from '../unparsable.ts';

/**
 * All handshakes share one queue, so that clients with finished handshakes do not wait for all of
 * them.
 */
const CALLER = 'TLS handshakes';
/** The share of an iteration that one handshake takes: ten fit into an iteration. */
const SHARE = 0.1;
/** Several times the size of a usual ClientHello. */
const HELLO_MAX_BYTES = 16_384;
const HANDSHAKE_RECORD = 22;
const RECORD_HEAD_BYTES = 5;
const MESSAGE_HEAD_BYTES = 4;
/** Enough of a request line to tell plain HTTP from TLS. */
const LINE_BYTES = 40;

interface HandshakeLimits {
  readonly turns: Turns;
  /**
   * Time limit for the client's first message, in milliseconds; Node's own limit starts after it.
   */
  readonly handshakeMaxMs: number;
}

/**
 * Makes an https server start each handshake in a turn, once the client's first message has
 * arrived. A connection without a timely first message fails with the same error as in Node.
 */
export function spreadHandshakes(server: Server, { turns, handshakeMaxMs }: HandshakeLimits): void {
  nameLostHandshakes(server);
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const fail = (code: string, rawPacket?: Buffer): void => {
      const properties = { code, ...(rawPacket && { rawPacket }) };
      const error = Object.assign(new Error('the TLS handshake was not started'), properties);
      server.emit('tlsClientError', error, socket);
    };
    const startIfOpen = (): void => {
      if (!socket.destroyed) for (const listener of begin) listener.call(server, socket);
    };
    const failAsTooLate = (): void => fail('ERR_TLS_HANDSHAKE_TIMEOUT');
    const timer = systemClock.after(handshakeMaxMs, failAsTooLate, true);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => timer.cancel());
    const cutOff = (): void => fail(cutOffHandshakeCode);
    onceHello(socket, cutOff, (isWhole, read) => {
      timer.cancel();
      // It is answered here, because the TLS code would take the connection with it.
      if (requestLikeText.test(read.toString('latin1', 0, LINE_BYTES))) fail(plainHttpCode, read);
      else if (!isWhole) fail('ERR_SSL_EXCESSIVE_MESSAGE_SIZE');
      else turns.start(CALLER, startIfOpen, SHARE);
    });
  });
}

/**
 * Gives Node's error for a connection that ended during the handshake a code that says why: the
 * server refused the client's certificate, or the client closed the connection.
 */
function nameLostHandshakes(server: Server): void {
  server.prependListener('tlsClientError', (fault: HandshakeFault, { authorizationError }) => {
    // A server that closes ends its connections itself.
    if (fault.code !== 'ECONNRESET' || !server.listening) return;
    fault.code = authorizationError ? refusedCertificateCode : cutOffHandshakeCode;
    if (authorizationError) fault.reason = String(authorizationError);
  });
}

interface HandshakeFault extends Error {
  code?: string;
  reason?: string;
}

/**
 * Calls `callback` once the first message is complete or recognized as something else, or, with false,
 * when it is too long. The bytes are put back for the TLS code to read. Calls `cutOff` when the
 * connection ends within the message; one that ends before it, as a probe does, is just closed.
 */
function onceHello(
  socket: Socket,
  cutOff: () => void,
  callback: (isWhole: boolean, read: Buffer) => void,
): void {
  let readBytes: Buffer = Buffer.alloc(0);
  const end = (): void => {
    if (readBytes.length > 0) cutOff();
  };
  socket.once('end', end);
  const look = (chunk: Buffer): void => {
    readBytes = readBytes.length === 0 ? chunk : Buffer.concat([readBytes, chunk]);
    const isWhole = holdsHello(readBytes);
    if (!isWhole && readBytes.length <= HELLO_MAX_BYTES) return;
    socket.off('data', look);
    socket.off('end', end);
    socket.pause();
    socket.unshift(readBytes);
    callback(isWhole, readBytes);
  };
  socket.on('data', look);
}

/**
 * Returns true when the first message is complete, possibly spread over several records; also when
 * the bytes are not a handshake.
 */
function holdsHello(read: Buffer): boolean {
  const head: number[] = [];
  let messageBytes = 0;
  for (let at = 0; ; ) {
    if (at < read.length && read[at] !== HANDSHAKE_RECORD) return true;
    const from = at + RECORD_HEAD_BYTES;
    if (from > read.length) return false;
    at = from + read.readUInt16BE(at + 3);
    if (at > read.length) return false;
    head.push(...read.subarray(from, Math.min(at, from + MESSAGE_HEAD_BYTES - head.length)));
    messageBytes += at - from;
    const [, high = 0, middle = 0, low = 0] = head;
    const wantedBytes = MESSAGE_HEAD_BYTES + (high << 16) + (middle << 8) + low;
    if (head.length === MESSAGE_HEAD_BYTES && messageBytes >= wantedBytes) return true;
  }
}
