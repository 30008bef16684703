/**
 * All open connections of the listeners: HTTP, WebSockets, refused tunnels. Node does not track
 * connections that an upgrade took over, and silently drops connections beyond its own limit.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { Semaphore } from '../http/open-files.ts';
import { RESPONSE_READ_MAX_MS } from './connection-limits.ts';
import type { StagedClosing } from './staged-closing.ts';

interface ConnectionsOptions {
  /** Each open connection acquires one unit; a connection that gets none is surplus. */
  readonly openFiles: Semaphore;
  /**
   * Maximum number of surplus connections that wait for their refusal, or for the end after it. One
   * more cuts the oldest refused connection, or refuses the oldest one at once.
   */
  readonly surplusMax: number;
  readonly closing: StagedClosing;
}

/** Properties of Node's socket handle that its types lack. */
interface SocketHandle {
  /** True while Node wants to read from the connection; it may be paused nevertheless. */
  readonly reading: boolean;
  readStart(): void;
  readStop(): void;
}

interface ReadSocket {
  readonly parser?: object | null;
  readonly _handle?: SocketHandle | null;
}

interface SurplusConnection {
  /** True once the connection was refused; it is then closed in stages. */
  isRefused: boolean;
  /** Refuses the connection without a request, where that is possible; otherwise cuts it. */
  readonly turnOut: () => void;
  readonly cut: () => void;
}

/** The open connections of one or several listeners. */
export class Connections {
  /** Closes connections whose clients may still be sending. */
  readonly closing: StagedClosing;
  readonly #options: ConnectionsOptions;
  readonly #open = new Set<Socket>();
  /**
   * Surplus connections by the client's address and port; an encrypted connection has the same
   * address as its raw socket.
   */
  readonly #surplus = new Map<string, SurplusConnection>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.closing = options.closing;
  }

  /**
   * Tracks the connections of a server from now on. A connection beyond the limit is accepted only
   * to be refused: the server asks `refuses` for each request. A connection without a timely
   * request receives the text of `lastWord`.
   */
  watch(server: Server, lastWord: () => string): void {
    const { openFiles } = this.#options;
    this.closing.watch(server);
    server.on('connection', (socket: Socket) => {
      // An HTTP connection that was taken for an upgrade and returned is emitted a second time.
      if (this.#open.has(socket)) return;
      this.#open.add(socket);
      const isCounted = openFiles.tryAcquire();
      socket.once('close', () => {
        this.#open.delete(socket);
        if (isCounted) openFiles.release();
      });
      if (!isCounted) this.#defer(socket, lastWord);
    });
  }

  /** Returns true when the connection is surplus, and its request must be refused. */
  refuses(socket: Socket): boolean {
    if (this.#surplus.size === 0) return false;
    const surplus = this.#surplus.get(endOf(socket));
    if (surplus) surplus.isRefused = true;
    return surplus !== undefined;
  }

  /** Stops reading from all connections that HTTP reads; returns a function that resumes them. */
  stopReading(): () => void {
    const stopped: SocketHandle[] = [];
    for (const socket of this.#open) {
      const { _handle: handle, parser } = socket as Socket & ReadSocket;
      // Only HTTP connections are stopped: others, such as WebSockets, pause and resume by
      // themselves.
      if (!parser || !handle?.reading || socket.isPaused()) continue;
      handle.readStop();
      stopped.push(handle);
    }
    return () => {
      for (const handle of stopped) if (handle.reading) handle.readStart();
    };
  }

  /** Closes all connections at once. */
  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #defer(socket: Socket, lastWord: () => string): void {
    const end = endOf(socket);
    const cutOff = (): void => {
      this.#surplus.delete(end);
      socket.destroy();
    };
    const turnOut = (): void => {
      if (surplus.isRefused) return;
      surplus.isRefused = true;
      const word = lastWord();
      if (word === '') cutOff();
      else this.closing.close(socket, word);
    };
    const surplus: SurplusConnection = { isRefused: false, turnOut, cut: cutOff };
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
