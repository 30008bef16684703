/**
 * All open connections of the listeners: HTTP, websockets, refused tunnels. Node does not track
 * connections that an upgrade took over, and silently drops connections beyond its own limit.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '../../fixtures/clock.ts';
import type { Semaphore } from '../http/open-files.ts';
import { RESPONSE_READ_MAX_MS } from './connection-limits.ts';
import type { StagedClosing } from './staged-closing.ts';

interface ConnectionsOptions {
  /** Each connection holds one while it is open. */
  readonly openFiles: Semaphore;
  /**
   * Maximum surplus connections that wait for their refusal, or to be ended after it; a further one
   * cuts the oldest that was refused, or else refuses the oldest at once.
   */
  readonly surplusMax: number;
  readonly closing: StagedClosing;
}

/** Node has it; its types do not. */
interface Reading {
  /** The desired state, while it may be paused. */
  readonly reading: boolean;
  readStart(): void;
  readStop(): void;
}

interface Read {
  readonly parser?: object | null;
  readonly _handle?: Reading | null;
}

interface Surplus {
  /** True once it has been refused, which ends it in stages. */
  isRefused: boolean;
  /** Refuses it without a request, where that is possible; else cuts it. */
  readonly turnOut: () => void;
  readonly cut: () => void;
}

/** The connections of one listener or several. */
export class Connections {
  /** How those end whose clients may still be sending. */
  readonly closing: StagedClosing;
  readonly #options: ConnectionsOptions;
  readonly #open = new Set<Socket>();
  /** By the caller's address, which an encrypted connection shares with its raw socket. */
  readonly #surplus = new Map<string, Surplus>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.closing = options.closing;
  }

  /**
   * Watches a server from now on. A connection beyond the limit is accepted for its refusal, for
   * which the server checks `isSurplus`; one without a request in time receives `lastWord`.
   */
  watch(server: Server, lastWord: () => string): void {
    const { openFiles } = this.#options;
    this.closing.watch(server);
    server.on('connection', (socket: Socket) => {
      // One that HTTP has released, and has got back.
      if (this.#open.has(socket)) return;
      this.#open.add(socket);
      const isHeld = openFiles.tryAcquire();
      socket.once('close', () => {
        this.#open.delete(socket);
        if (isHeld) openFiles.release();
      });
      if (!isHeld) this.#defer(socket, lastWord);
    });
  }

  /** Returns true when a request on this connection must be refused because there are too many. */
  refuses(socket: Socket): boolean {
    if (this.#surplus.size === 0) return false;
    const surplus = this.#surplus.get(endOf(socket));
    if (surplus) surplus.isRefused = true;
    return surplus !== undefined;
  }

  /** Stops reading requests from all connections that are not stopped; returns a function that resumes. */
  stopReading(): () => void {
    const stopped: Reading[] = [];
    for (const socket of this.#open) {
      const { _handle: handle, parser } = socket as Socket & Read;
      // Others than those that HTTP reads have an order of their own between reading and waiting.
      if (!parser || !handle?.reading || socket.isPaused()) continue;
      handle.readStop();
      stopped.push(handle);
    }
    return () => {
      for (const handle of stopped) if (handle.reading) handle.readStart();
    };
  }

  /** Ends all connections at once. */
  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #defer(socket: Socket, lastWord: () => string): void {
    const end = endOf(socket);
    const cut = (): void => {
      this.#surplus.delete(end);
      socket.destroy();
    };
    const turnOut = (): void => {
      if (surplus.isRefused) return;
      surplus.isRefused = true;
      const word = lastWord();
      if (word === '') cut();
      else this.closing.close(socket, word);
    };
    const surplus: Surplus = { isRefused: false, turnOut, cut };
    const timer = systemClock.after(RESPONSE_READ_MAX_MS, turnOut, true);
    socket.once('close', () => {
      timer.cancel();
      if (this.#surplus.get(end) === surplus) this.#surplus.delete(end);
    });
    this.#surplus.set(end, surplus);
    if (this.#surplus.size > this.#options.surplusMax) this.#makeRoom();
  }

  #makeRoom(): void {
    const [longest] = this.#surplus.values();
    for (const surplus of this.#surplus.values()) {
      if (!surplus.isRefused) continue;
      surplus.cut();
      return;
    }
    longest?.turnOut();
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
