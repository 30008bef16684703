/**
 * The open connections of listeners in any state: requests, websockets, refused tunnels. Node
 * forgets those taken over by an upgrade, and silently drops those beyond a limit.
 */
import type { Server, Socket } from 'node:net';
import { systemClock } from '../../fixtures/clock.ts';
import type { Semaphore } from '../http/open-files.ts';
import { RESPONSE_READ_MAX_MS } from './connection-limits.ts';

interface ConnectionsOptions {
  /** Each connection holds one while it is open. */
  readonly openFiles: Semaphore;
  /** Maximum surplus connections waiting for their refusal; a further one displaces the oldest. */
  readonly surplusMax: number;
}

/** The connections of one listener or several. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Set<Socket>();
  /** By the caller's address, which an encrypted connection shares with its raw socket. */
  readonly #surplus = new Map<string, () => void>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Watches a server from now on. A connection beyond the limit is accepted for its refusal, for
   * which the server checks `isSurplus`; one without a request in time receives `lastWord`.
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

  /** Returns true when requests on this connection must be refused, since there are too many. */
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
