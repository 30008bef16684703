/** Runs a program without privileges during a test, and observes its output. */
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { systemClock } from '../../../../fixtures/base/clock.ts';

/**
 * The unprivileged user for programs when the test runs as root; undefined for other users, who run
 * programs as themselves.
 */
export const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;

export interface RunningProgram {
  readonly pid: number;
  /** All output so far, of both streams. */
  readonly written: string;
  /** Resolves with the match once the output matches. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  /** Calls `look` now, and after each output, until it finds something. */
  until<Found>(look: () => Promise<Found | undefined>): Promise<Found>;
  /** Ends the program and waits for its exit. */
  end(): Promise<void>;
}

/** A program to start, with its arguments and environment. */
export interface ProgramStart {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** True to keep the privileges of the test, for a program that drops them by itself. */
  readonly keepRights?: boolean;
}

/** Time limit for one step, far longer than any client needs even on a busy machine. */
const STEP_MAX_MS = 30_000;
const SHOWN_MAX_CHARACTERS = 4000;

/** Spawns a program. Its environment contains only a search path and the given variables. */
export function spawnProgram({ program, args, environment, keepRights }: ProgramStart) {
  return spawn(program, args, {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(keepRights ? {} : unprivileged),
  });
}

/** Starts a program, and observes its output. */
export function startProgram(start: ProgramStart): RunningProgram {
  const child = spawnProgram(start);
  const output = new ProgramOutput(start.program, child);
  return {
    pid: child.pid ?? 0,
    get written() {
      return output.text;
    },
    waitForOutput: (pattern) => output.until(async () => pattern.exec(output.text) ?? undefined),
    until: (look) => output.until(look),
    end: async () => {
      const close = output.ended ? undefined : once(child, 'close');
      child.kill();
      await close;
    },
  };
}

/** Collects the output of a program until it ends. */
class ProgramOutput extends EventEmitter {
  text = '';
  ended = false;
  readonly #name: string;

  constructor(name: string, child: ChildProcess) {
    super();
    this.#name = name;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.text += text;
        this.emit('news');
      });
    }
    child.on('error', (error) => {
      this.text += error.message;
    });
    child.on('close', () => {
      this.ended = true;
      this.emit('news');
    });
  }

  /**
   * Calls `look` now and after each output until it returns something.
   * @throws Error with the last output when the program ends before, or when the time limit is
   * exceeded
   */
  async until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
    let isLate = false;
    const deadline = systemClock.after(STEP_MAX_MS, () => {
      isLate = true;
      this.emit('news');
    });
    try {
      for (;;) {
        const lengthBefore = this.text.length;
        const result = await look();
        if (result !== undefined) return result;
        if (this.ended) throw new Error(`${this.#name} ended: ${this.#tail()}`);
        if (isLate)
          throw new Error(
            `${this.#name} did not write the expected output in time: ${this.#tail()}`,
          );
        if (this.text.length === lengthBefore) await once(this, 'news');
      }
    } finally {
      deadline.cancel();
    }
  }

  #tail(): string {
    return this.text.slice(-SHOWN_MAX_CHARACTERS);
  }
}
