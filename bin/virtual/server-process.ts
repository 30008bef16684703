/**
 * The server of a run in virtual time as a process that can end: what it held in memory is gone then,
 * its timers and what it was doing among it, and it comes back with what its data folder has.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BaseClock, type Clock, type ManualClock, type Timer } from '../../fixtures/clock.ts';
import type { MemoryListener } from '../../server/listeners/memory-listener.ts';
import { openServer, type RunningServer, type ServerOptions } from '../../server/server.ts';

/** Where its data folders are, in the system's folder for temporary files. */
export const dataFolderPrefix = 'fleetbed-virtual-';

/** Thrown when a server does not come back; its cause is what the server said. */
export class RestartError extends Error {
  override readonly name = 'RestartError';
}

/** What a server is started with. */
interface ServerProcessOptions {
  readonly clock: ManualClock;
  /** The options of its how-many-th start, from 0. */
  readonly optionsOf: (start: number) => ServerOptions;
  /** False for a server that never ends, which keeps everything in memory. */
  readonly mayRestart: boolean;
}

/** One start of the server, until it ends. */
interface Start {
  readonly server: RunningServer;
  readonly listener: MemoryListener;
  readonly clock: LifetimeClock | undefined;
  readonly folder: string | undefined;
}

/** How often to look whether nobody waits any more who must not lose an answer. */
const LOOK_MS = 1;

/** A server that runs, ends and is started again. */
export class ServerProcess {
  readonly #options: ServerProcessOptions;
  /** Holds the data folders; absent where nothing is kept. */
  readonly #root: string | undefined;
  readonly #over = new AbortController();
  #running: Start | undefined;
  #starts = 0;
  #isEnding = false;
  /** A copy of its folder that it comes back with, in place of the folder as it is then. */
  #kept: string | undefined;
  #waiting = new Set<() => void>();
  #underWay: Promise<void> = Promise.resolve();
  /** True while it ends or starts: time must not pass. */
  isBusy = false;
  /** Number of times that it has ended. */
  ends = 0;
  /** Number of callers that must not lose an answer: it ends only when there are none. */
  sparedCount = 0;
  /** Called when it does not come back. */
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

  /** A user's token of the management API. */
  get adminToken(): string {
    return this.#running?.server.adminToken ?? '';
  }

  /** Answers as long as the server is up. */
  readonly listener: MemoryListener = (request, reader) => {
    if (this.#running === undefined) throw new Error('the server of this run is down');
    this.#running.listener(request, reader);
  };

  /** Calls back once it is up again; returns how to cancel that. */
  onceUp(act: () => void): () => void {
    this.#waiting.add(act);
    return () => this.#waiting.delete(act);
  }

  /** Ends it, and starts it again after this time; one that is down already stays so. */
  restart(lastingMs: number): void {
    if (this.#isEnding || !this.isUp || this.#over.signal.aborted) return;
    this.#isEnding = true;
    this.#underWay = this.#restart(lastingMs).catch((cause: unknown) => {
      const said = cause instanceof Error ? cause.message : String(cause);
      this.onTrouble(new RestartError(`the server did not come back: ${said}`, { cause }));
    });
  }

  /** A mistake of a server: what it has kept by now is what it comes back with at its next start. */
  keepNothingMore(): void {
    if (this.#root === undefined || this.#running?.folder === undefined) return;
    if (this.#kept !== undefined) return;
    this.#kept = join(this.#root, `${this.ends}-kept`);
    cpSync(this.#running.folder, this.#kept, { recursive: true });
  }

  /** Restarts it this long from now, unless it was closed before. */
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
    // Time passes only when nothing is in the middle of being done, so that its end cuts the same.
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

  /** Returns the folder with what it has kept at this moment: what it does from now on is lost. */
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
    // Before it is closed: an end that is not announced leaves its files as they are.
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
