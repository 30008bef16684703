/**
 * Spreads TLS handshakes over rounds of the event loop: each takes the server a signature, and as many
 * may begin at once as connections are open.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '../../../fixtures/clock.ts';
import type { Turns } from '../../pipeline/turns.ts';

/** In one row, so that those who have shaken hands do not wait for it. */
const CALLER = 'TLS handshakes';
/** Ten of them in one round. */
const SHARE = 0.1;
/** Several times what clients send. */
const HELLO_MAX_BYTES = 16_384;
const HANDSHAKE_RECORD = 22;
const RECORD_HEAD_BYTES = 5;
const MESSAGE_HEAD_BYTES = 4;

interface HandshakeLimits {
  readonly turns: Turns;
  /** Time until the first message is there; Node counts anew from there. */
  readonly handshakeMaxMs: number;
}

/**
 * Lets an https server begin a handshake in its turn, once the first message of the client is there.
 * A connection without one in time fails as it does with Node.
 */
export function spreadHandshakes(server: Server, { turns, handshakeMaxMs }: HandshakeLimits): void {
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const fail = (code: string): void => {
      const fault = Object.assign(new Error('the TLS handshake was not started'), { code });
      server.emit('tlsClientError', fault, socket);
    };
    const beginIfOpen = (): void => {
      if (!socket.destroyed) for (const listener of begin) listener.call(server, socket);
    };
    const tooLate = (): void => fail('ERR_TLS_HANDSHAKE_TIMEOUT');
    const timer = systemClock.after(handshakeMaxMs, tooLate, true);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => timer.cancel());
    onceHello(socket, (isWhole) => {
      timer.cancel();
      if (!isWhole) fail('ERR_SSL_EXCESSIVE_MESSAGE_SIZE');
      else turns.start(CALLER, beginIfOpen, SHARE);
    });
  });
}

/** Calls once the first message is there, or what is none; it stays to be read. */
function onceHello(socket: Socket, act: (isWhole: boolean) => void): void {
  let read: Buffer = Buffer.alloc(0);
  const look = (piece: Buffer): void => {
    read = read.length === 0 ? piece : Buffer.concat([read, piece]);
    const isWhole = holdsHello(read);
    if (!isWhole && read.length <= HELLO_MAX_BYTES) return;
    socket.off('data', look);
    socket.pause();
    socket.unshift(read);
    act(isWhole);
  };
  socket.on('data', look);
}

/** True where the first message is whole, which may be spread over records; also where it is none. */
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
