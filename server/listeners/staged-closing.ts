/**
 * Closes connections in stages, so that a client that is still sending receives the response: the
 * server ends its side, discards what arrives up to a time and a byte limit, then cuts the
 * connection. RFC 9112, section 9.6
 */
import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { ConnectionLimits } from '../settings.ts';

type DiscardLimits = Pick<ConnectionLimits, 'discardMaxMs' | 'discardMaxBytes'>;

/** A property that Node sets while HTTP reads the connection, and that its types lack. */
interface SocketWithParser {
  readonly parser?: { readonly incoming: IncomingMessage | null } | null;
}

/** Closes connections in stages. */
export class StagedClosing {
  readonly #limits: DiscardLimits;
  readonly #incompleteTransfers: ByteBudget;
  readonly #closing = new WeakSet<object>();

  constructor(limits: DiscardLimits, incompleteTransfers: ByteBudget) {
    this.#limits = limits;
    this.#incompleteTransfers = incompleteTransfers;
  }

  /**
   * Makes `destroySoon`, which HTTP calls after the last response of a connection, close in stages.
   */
  watch(server: Server): void {
    const close = (socket: Socket): void => this.close(socket);
    const { destroySoon } = Socket.prototype;
    const closeInStages = function (this: Socket): void {
      if (mayStillSend(this)) close(this);
      else destroySoon.call(this);
    };
    const prepare = (socket: Socket): void => {
      socket.destroySoon = closeInStages;
    };
    server.on('connection', prepare);
    server.on('secureConnection', prepare);
  }

  /** Returns true once the connection is being closed in stages. */
  isClosing(socket: object): boolean {
    return this.#closing.has(socket);
  }

  /**
   * Sends `lastWord`, ends the server's side, and discards what the client sends until it closes
   * its side.
   */
  close(socket: Socket, lastWord = ''): void {
    if (this.#closing.has(socket)) return;
    this.#closing.add(socket);
    const request = (socket as SocketWithParser).parser?.incoming;
    socket.end(lastWord);
    // Later bytes must not be parsed as a request.
    socket.removeAllListeners('data');
    const { discardMaxMs, discardMaxBytes } = this.#limits;
    const cutOff = (): void => {
      socket.destroy();
    };
    const transfer = this.#incompleteTransfers.open(cutOff);
    const timer = systemClock.after(discardMaxMs, cutOff, true);
    let discardedBytes = 0;
    socket.on('data', (chunk: Buffer) => {
      discardedBytes += chunk.length;
      if (discardedBytes > discardMaxBytes) cutOff();
      // A chunk stays in memory until the next one replaces it.
      else transfer.set(chunk.length);
    });
    socket.on('error', cutOff);
    socket.once('close', () => {
      timer.cancel();
      transfer.set(0);
      // When the connection closes, Node destroys only unanswered requests; this one was answered.
      request?.destroy();
    });
    // If HTTP stopped reading, `resume` alone would not start it again.
    socket.push('');
    socket.resume();
  }
}

/** Returns true when the client may send more after the request whose response is the last one. */
function mayStillSend(socket: Socket): boolean {
  const { parser } = socket as SocketWithParser;
  if (!parser) return true;
  const { incoming } = parser;
  if (!incoming) return false;
  const isLast = incoming.httpVersion === '1.0' || /\bclose\b/i.test(connectionOf(incoming));
  return !incoming.complete || !isLast;
}

function connectionOf({ headers }: IncomingMessage): string {
  return headers.connection ?? '';
}
