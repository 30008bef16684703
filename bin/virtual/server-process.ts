/**
 * The server of a run in virtual time, as a process that can be restarted. A restart loses memory,
 * timers and exchanges in progress, and keeps the contents of the data folder.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BaseClock, type Clock, type ManualClock, type Timer } from '../../fixtures/base/clock.ts';
import type { MemoryListener } from '../../server/listeners/memory-listener.ts';
import { openServer, type RunningServer, type ServerOptions } from '../../server/server.ts';

/** Prefix of the temporary folders for data folders of the server. */
export const dataFolderPrefix = 'fleetbed-virtual-';

/** The server did not come back; `cause` is the error of the server. */
export class RestartError extends Error {
  override readonly name = 'RestartError';
}

/** The options of a server process. */
interface RestartableServerOptions {
  readonly clock: ManualClock;
  /** Returns the options of a start. @param start number of the start, from 0 */
  readonly optionsOf: (start: number) => ServerOptions;
  /** False for a server that never restarts; such a server keeps everything in memory. */
  readonly mayRestart: boolean;
}

/** One start of the server until it stops. */
interface ServerStart {
  readonly server: RunningServer;
  readonly listener: MemoryListener;
  readonly clock: LifetimeClock | undefined;
  readonly folder: string | undefined;
}

/** Interval for checking whether a privileged caller still waits for a response. */
const POLL_INTERVAL_MS = 1;

/** A server that can be stopped and restarted. */
export class RestartableServer {
  readonly #options: RestartableServerOptions;
  /** The folder of all data folders; undefined when nothing is stored. */
  readonly #root: string | undefined;
  readonly #over = new AbortController();
  #running: ServerStart | undefined;
  #starts = 0;
  #isEnding = false;
  /** A copy of the data folder to restart with, instead of the current folder. */
  #kept: string | undefined;
  #restartCallbacks = new Set<() => void>();
  #restarting: Promise<void> = Promise.resolve();
  /** True while the server stops or starts; virtual time must not pass. */
  isBusy = false;
  /** Number of times that the server has stopped. */
  stopCount = 0;
  /** Number of callers that must not lose a response: the server stops only when there are none. */
  privilegedCount = 0;
  /** Called when the server does not come back. */
  onRestartError: (error: RestartError) => void = () => undefined;

  private constructor(options: RestartableServerOptions) {
    this.#options = options;
    if (options.mayRestart) this.#root = mkdtempSync(join(tmpdir(), dataFolderPrefix));
  }

  /**
   * Starts the server.
   * @throws SettingError for an invalid option, StateError for an unusable data folder
   */
  static async start(options: RestartableServerOptions): Promise<RestartableServer> {
    const server = new RestartableServer(options);
    try {
      await server.#start(server.#root && join(server.#root, '0'));
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  get mayRestart(): boolean {
    return this.#options.mayRestart;
  }

  get isUp(): boolean {
    return this.#running !== undefined;
  }

  /** The token of a user of the management API. */
  get adminToken(): string {
    return this.#running?.server.adminToken ?? '';
  }

  /** The listener of the server. It throws while the server is down. */
  readonly listener: MemoryListener = (request, reader) => {
    if (this.#running === undefined) throw new Error('the server of this run is down');
    this.#running.listener(request, reader);
  };

  /** Calls `act` once the server is up again. Returns a function that cancels the call. */
  onceUp(act: () => void): () => void {
    this.#restartCallbacks.add(act);
    return () => this.#restartCallbacks.delete(act);
  }

  /**
   * Stops the server and starts it again after `lastingMs`; does nothing when it is already down.
   */
  restart(lastingMs: number): void {
    if (this.#isEnding || !this.isUp || this.#over.signal.aborted) return;
    this.#isEnding = true;
    this.#restarting = this.#restart(lastingMs).catch((cause: unknown) => {
      const message = cause instanceof Error ? cause.message : String(cause);
      this.onRestartError(new RestartError(`the server did not come back: ${message}`, { cause }));
    });
  }

  /**
   * Simulates a server bug: all further changes are lost, because the server restarts with its
   * present data.
   */
  loseLaterChanges(): void {
    if (this.#root === undefined || this.#running?.folder === undefined) return;
    if (this.#kept !== undefined) return;
    this.#kept = join(this.#root, `${this.stopCount}-kept`);
    cpSync(this.#running.folder, this.#kept, { recursive: true });
  }

  /** Restarts the server after a delay, unless it is closed before. */
  restartAfter(delayMs: number, lastingMs: number): void {
    this.#options.clock.after(delayMs, () => this.restart(lastingMs));
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#restarting;
    await this.#running?.server.close();
    if (this.#root !== undefined) rmSync(this.#root, { recursive: true, force: true });
  }

  async #restart(lastingMs: number): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#over;
    // Virtual time passes only while nothing is in progress, so every run stops the server at the
    // same point.
    await clock.sleep(0, signal);
    while (this.privilegedCount > 0 && !signal.aborted) await clock.sleep(POLL_INTERVAL_MS, signal);
    if (signal.aborted) return;
    const folder = await this.#whileBusy(() => this.#end());
    await clock.sleep(lastingMs, signal);
    if (signal.aborted) return;
    await this.#whileBusy(() => this.#start(folder));
    const callbacks = [...this.#restartCallbacks];
    this.#restartCallbacks.clear();
    for (const act of callbacks) act();
  }

  /** Stops the server. Returns a folder with its present data; later changes are lost. */
  async #end(): Promise<string> {
    const stoppedServer = this.#running;
    this.#running = undefined;
    this.#isEnding = false;
    this.stopCount++;
    if (stoppedServer?.folder === undefined || this.#root === undefined) {
      throw new Error('it has no data folder');
    }
    stoppedServer.clock?.stop();
    const folder = join(this.#root, String(this.stopCount));
    // The files are copied before the server closes, as a crash would leave them.
    cpSync(this.#kept ?? stoppedServer.folder, folder, { recursive: true });
    this.#kept = undefined;
    await stoppedServer.server.close();
    rmSync(stoppedServer.folder, { recursive: true, force: true });
    return folder;
  }

  async #start(folder: string | undefined): Promise<void> {
    const lifetimeClock = folder === undefined ? undefined : new LifetimeClock(this.#options.clock);
    const { server, openInMemory } = await openServer({
      ...this.#options.optionsOf(this.#starts++),
      clock: lifetimeClock ?? this.#options.clock,
      ...(folder !== undefined && { dataFolder: folder }),
    });
    this.#running = { server, listener: openInMemory(), clock: lifetimeClock, folder };
  }

  async #whileBusy<Result>(work: () => Promise<Result>): Promise<Result> {
    this.isBusy = true;
    try {
      return await work();
    } finally {
      this.isBusy = false;
    }
  }
}

/** The clock of one start, whose timers end with it. */
class LifetimeClock extends BaseClock {
  readonly #base: Clock;
  #isOver = false;

  constructor(base: Clock) {
    super();
    this.#base = base;
  }

  stop(): void {
    this.#isOver = true;
  }

  now(): number {
    return this.#base.now();
  }

  monotonicMs(): number {
    return this.#base.monotonicMs();
  }

  after(delayMs: number, act: () => void, background?: boolean): Timer {
    if (this.#isOver) return { cancel: () => undefined };
    return this.#base.after(
      delayMs,
      () => {
        if (!this.#isOver) act();
      },
      background,
    );
  }
}
