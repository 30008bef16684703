/**
 * How long a server keeps others waiting, seen from outside: in CPU time of the thread that runs its
 * event loop, so that other programs on the machine do not count.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

const NS_PER_MS = 1_000_000;

/** A server in a process of its own. */
interface Probed {
  readonly pid: number;
  /** Without a slash at the end. */
  readonly baseUrl: string;
}

/** Asks a server without a pause, on a connection of its own. */
export class StallProber {
  readonly #server: Probed;
  readonly #socket: Socket;
  readonly #request: string;

  private constructor(server: Probed, socket: Socket) {
    this.#server = server;
    this.#socket = socket;
    this.#request = `GET /probe HTTP/1.1\r\nHost: ${new URL(server.baseUrl).host}\r\n\r\n`;
  }

  /** Connects to the server. */
  static async to(server: Probed): Promise<StallProber> {
    const { hostname, port } = new URL(server.baseUrl);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, 'connect');
    return new StallProber(server, socket);
  }

  /**
   * Runs `work`, and returns the most CPU time in milliseconds that the server spent between two
   * answers to the prober meanwhile. Each is an upper bound: where the prober itself had to wait for
   * the machine, the server may have done several pieces of work.
   */
  async worstDuring(work: () => Promise<unknown>): Promise<number> {
    let isOver = false;
    const working = work().finally(() => {
      isOver = true;
    });
    let worst = 0;
    await this.#ask();
    for (let last = loopMs(this.#server.pid); !isOver; ) {
      await this.#ask();
      const now = loopMs(this.#server.pid);
      worst = Math.max(worst, now - last);
      last = now;
    }
    await working;
    return worst;
  }

  close(): void {
    this.#socket.destroy();
  }

  async #ask(): Promise<void> {
    this.#socket.write(this.#request);
    // The answer is short: it comes in one piece.
    await once(this.#socket, 'data');
  }
}

/** CPU time of the main thread of a process so far, in milliseconds. @throws Error when it ended */
export function loopMs(pid: number): number {
  return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8'), 10) / NS_PER_MS;
}
