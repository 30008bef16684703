/**
 * Closes connections in stages, so that a client that is still sending receives the answer: its end
 * is sent, what arrives is discarded up to two limits, then the connection is cut. RFC 9112,
 * section 9.6
 */
import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import { systemClock } from '../../fixtures/clock.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { ConnectionLimits } from '../settings.ts';

type Limits = Pick<ConnectionLimits, 'discardMaxMs' | 'discardMaxBytes'>;

/** Node has it while HTTP reads the connection; its types do not. */
interface Parsed {
  readonly parser?: { readonly incoming: IncomingMessage | null } | null;
}

/** Closes the connections of listeners that it watches. */
export class StagedClosing {
  readonly #limits: Limits;
  readonly #underway: ByteBudget;
  readonly #closing = new WeakSet<object>();

  constructor(limits: Limits, underway: ByteBudget) {
    this.#limits = limits;
    this.#underway = underway;
  }

  /** From now on `destroySoon`, which HTTP calls after a last answer, closes in stages. */
  watch(server: Server): void {
    const close = (socket: Socket): void => this.close(socket);
    const { destroySoon } = Socket.prototype;
    const inStages = function (this: Socket): void {
      if (mayStillSend(this)) close(this);
      else destroySoon.call(this);
    };
    const prepare = (socket: Socket): void => {
      socket.destroySoon = inStages;
    };
    server.on('connection', prepare);
    server.on('secureConnection', prepare);
  }

  /** Returns true once the connection is closed in stages. */
  isClosing(socket: object): boolean {
    return this.#closing.has(socket);
  }

  /** Ends the connection, and discards what its client sends until it ends it too. */
  close(socket: Socket, lastWord = ''): void {
    if (this.#closing.has(socket)) return;
    this.#closing.add(socket);
    const request = (socket as Parsed).parser?.incoming;
    socket.end(lastWord);
    // Nothing of what follows may be taken for a request.
    socket.removeAllListeners('data');
    const { discardMaxMs, discardMaxBytes } = this.#limits;
    const cut = (): void => {
      socket.destroy();
    };
    const held = this.#underway.open(cut);
    const timer = systemClock.after(discardMaxMs, cut, true);
    let discardedBytes = 0;
    socket.on('data', (chunk: Buffer) => {
      discardedBytes += chunk.length;
      if (discardedBytes > discardMaxBytes) cut();
      // A piece stays in memory until the next one at the latest.
      else held.set(chunk.length);
    });
    socket.on('error', cut);
    socket.once('close', () => {
      timer.cancel();
      held.set(0);
      // HTTP has forgotten it with its answer.
      request?.destroy();
    });
    // Where HTTP has stopped reading, it would not start again.
    socket.push('');
    socket.resume();
  }
}

/** Whether more may come after the request whose answer is the last one. */
function mayStillSend(socket: Socket): boolean {
  const { parser } = socket as Parsed;
  if (!parser) return true;
  const { incoming } = parser;
  if (!incoming) return false;
  const isLast = incoming.httpVersion === '1.0' || /\bclose\b/i.test(connectionOf(incoming));
  return !incoming.complete || !isLast;
}

function connectionOf({ headers }: IncomingMessage): string {
  return headers.connection ?? '';
}
