/**
 * The server of a run in virtual time as a process that can be restarted: it then loses its memory,
 * timers and exchanges in progress, and comes back with the contents of its data folder.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BaseClock, type Clock, type ManualClock, type Timer } from '../../fixtures/clock.ts';
import type { MemoryListener } from '../../server/listeners/memory-listener.ts';
import { openServer, type RunningServer, type ServerOptions } from '../../server/server.ts';

/** Prefix of the temporary folders that contain its data folders. */
export const dataFolderPrefix = 'fleetbed-virtual-';

/** Thrown when a server does not come back; its cause is the error of the server. */
export class RestartError extends Error {
  override readonly name = 'RestartError';
}

/** The options of a server process. */
interface ServerProcessOptions {
  readonly clock: ManualClock;
  /** Returns the options of a start, counted from 0. */
  readonly optionsOf: (start: number) => ServerOptions;
  /** False for a server that never restarts; it keeps everything in memory. */
  readonly mayRestart: boolean;
}

/** One start of the server, until it stops. */
interface Start {
  readonly server: RunningServer;
  readonly listener: MemoryListener;
  readonly clock: LifetimeClock | undefined;
  readonly folder: string | undefined;
}

/** Interval of the checks whether a caller still waits for an answer that it must not lose. */
const LOOK_MS = 1;

/** A server that can be stopped and started again. */
export class ServerProcess {
  readonly #options: ServerProcessOptions;
  /** The folder of the data folders; absent when nothing is stored. */
  readonly #root: string | undefined;
  readonly #over = new AbortController();
  #running: Start | undefined;
  #starts = 0;
  #isEnding = false;
  /** A copy of the data folder with which it restarts, instead of the current folder. */
  #kept: string | undefined;
  #waiting = new Set<() => void>();
  #underWay: Promise<void> = Promise.resolve();
  /** True while it stops or starts: time must not pass. */
  isBusy = false;
  /** Number of times that it has stopped. */
  ends = 0;
  /** Number of callers that must not lose an answer: it stops only when there are none. */
  sparedCount = 0;
  /** Called when the server does not come back. */
  onTrouble: (error: RestartError) => void = () => undefined;

  private constructor(options: ServerProcessOptions) {
    this.#options = options;
    if (options.mayRestart) this.#root = mkdtempSync(join(tmpdir(), dataFolderPrefix));
  }

  /** @throws SettingError for an invalid option, StateError for an unusable data folder */
  static async start(options: ServerProcessOptions): Promise<ServerProcess> {
    const started = new ServerProcess(options);
    try {
      await started.#start(started.#root && join(started.#root, '0'));
      return started;
    } catch (error) {
      await started.close();
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

  /** The listener of the server; it fails while the server is down. */
  readonly listener: MemoryListener = (request, reader) => {
    if (this.#running === undefined) throw new Error('the server of this run is down');
    this.#running.listener(request, reader);
  };

  /** Calls back once the server is up again; returns a function that cancels this. */
  onceUp(act: () => void): () => void {
    this.#waiting.add(act);
    return () => this.#waiting.delete(act);
  }

  /** Stops the server and starts it again after this time; does nothing when it is already down. */
  restart(lastingMs: number): void {
    if (this.#isEnding || !this.isUp || this.#over.signal.aborted) return;
    this.#isEnding = true;
    this.#underWay = this.#restart(lastingMs).catch((cause: unknown) => {
      const said = cause instanceof Error ? cause.message : String(cause);
      this.onTrouble(new RestartError(`the server did not come back: ${said}`, { cause }));
    });
  }

  /**
   * Simulates a server bug: from now on nothing is stored, so it restarts with its present data.
   */
  keepNothingMore(): void {
    if (this.#root === undefined || this.#running?.folder === undefined) return;
    if (this.#kept !== undefined) return;
    this.#kept = join(this.#root, `${this.ends}-kept`);
    cpSync(this.#running.folder, this.#kept, { recursive: true });
  }

  /** Restarts the server after a delay, unless it is closed before. */
  restartAfter(delayMs: number, lastingMs: number): void {
    this.#options.clock.after(delayMs, () => this.restart(lastingMs));
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#underWay;
    await this.#running?.server.close();
    if (this.#root !== undefined) rmSync(this.#root, { recursive: true, force: true });
  }

  async #restart(lastingMs: number): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#over;
    // Time passes only while nothing is in progress, so that every run stops at the same point.
    await clock.sleep(0, signal);
    while (this.sparedCount > 0 && !signal.aborted) await clock.sleep(LOOK_MS, signal);
    if (signal.aborted) return;
    const folder = await this.#whileBusy(() => this.#end());
    await clock.sleep(lastingMs, signal);
    if (signal.aborted) return;
    await this.#whileBusy(() => this.#start(folder));
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const act of waiting) act();
  }

  /** Stops the server and returns a folder with its present data; everything later is lost. */
  async #end(): Promise<string> {
    const ended = this.#running;
    this.#running = undefined;
    this.#isEnding = false;
    this.ends++;
    if (ended?.folder === undefined || this.#root === undefined) {
      throw new Error('it has no data folder');
    }
    ended.clock?.stop();
    const folder = join(this.#root, String(this.ends));
    // Copied before closing: an unannounced end leaves the files as they are.
    cpSync(this.#kept ?? ended.folder, folder, { recursive: true });
    this.#kept = undefined;
    await ended.server.close();
    rmSync(ended.folder, { recursive: true, force: true });
    return folder;
  }

  async #start(folder: string | undefined): Promise<void> {
    const own = folder === undefined ? undefined : new LifetimeClock(this.#options.clock);
    const { server, openInMemory } = await openServer({
      ...this.#options.optionsOf(this.#starts++),
      clock: own ?? this.#options.clock,
      ...(folder !== undefined && { dataFolder: folder }),
    });
    this.#running = { server, listener: openInMemory(), clock: own, folder };
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

/** The clock of one start: its timers end with it. */
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
