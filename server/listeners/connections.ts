/**
 * The open connections of listeners, whatever they have become: requests, websockets, tunnels that
 * were refused. Node forgets those that an upgrade took over, and drops without a word those beyond
 * a limit.
 */
import type { Server, Socket } from 'node:net';
import { systemClock } from '../../fixtures/clock.ts';
import type { Semaphore } from '../http/open-files.ts';
import { RESPONSE_READ_MAX_MS } from './connection-limits.ts';

interface ConnectionsOptions {
  /** Each connection holds one as long as it lasts. */
  readonly openFiles: Semaphore;
  /** Connections beyond these that wait for their refusal; more push out the one that waited longest. */
  readonly surplusMax: number;
}

/** Those of one listener or several. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Set<Socket>();
  /** By the caller's end, by which an encrypted connection and its bare socket are one. */
  readonly #surplus = new Map<string, () => void>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Watches a server from now on. A connection beyond the limit is let in for its refusal, for which
   * the server asks `isSurplus`; one that asks for nothing in time hears `lastWord`.
   */
  watch(server: Server, lastWord: () => string): void {
    const { openFiles } = this.#options;
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      const isHeld = openFiles.tryAcquire();
      socket.once('close', () => {
        this.#open.delete(socket);
        if (isHeld) openFiles.release();
      });
      if (!isHeld) this.#defer(socket, lastWord);
    });
  }

  /** Whether what comes over this connection is to be refused, since there are too many. */
  isSurplus(socket: Socket): boolean {
    return this.#surplus.size > 0 && this.#surplus.has(endOf(socket));
  }

  /** Ends all of them at once. */
  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #defer(socket: Socket, lastWord: () => string): void {
    const end = endOf(socket);
    const turnOut = (): void => {
      this.#surplus.delete(end);
      if (socket.bytesWritten === 0) socket.write(lastWord());
      socket.destroy();
    };
    const timer = systemClock.after(RESPONSE_READ_MAX_MS, turnOut, true);
    socket.once('close', () => {
      timer.cancel();
      if (this.#surplus.get(end) === turnOut) this.#surplus.delete(end);
    });
    this.#surplus.set(end, turnOut);
    if (this.#surplus.size <= this.#options.surplusMax) return;
    const [longest] = this.#surplus.values();
    longest?.();
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
