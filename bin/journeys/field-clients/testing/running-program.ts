/** A program that runs beside the test, without rights, and is watched by what it writes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { systemClock } from '../../../../fixtures/clock.ts';

/** The user without rights that root lends to programs; anybody else runs them as themselves. */
export const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;

export interface RunningProgram {
  readonly pid: number;
  /** The output so far, of both streams. */
  readonly written: string;
  /** Resolves with the match, once the output matches. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  /** Calls `look` now, and after each output, until it finds something. */
  until<Found>(look: () => Promise<Found | undefined>): Promise<Found>;
  /** Ends it, and waits for the end. */
  end(): Promise<void>;
}

/** How a program is started. */
export interface ProgramStart {
  readonly program: string;
  readonly words: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Keeps the rights of the test, for a program that gives them up by itself. */
  readonly keepRights?: boolean;
}

/** Far more than any client here takes for a step, on a busy machine too. */
const STEP_MAX_MS = 30_000;
const SHOWN_MAX_CHARACTERS = 4000;

/** Starts a program with nothing in its environment but a search path and what is given. */
export function startProgram(start: ProgramStart): RunningProgram {
  const child = spawn(start.program, start.words, {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...start.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(start.keepRights ? {} : unprivileged),
  });
  const output = new Output(start.program, child);
  return {
    pid: child.pid ?? 0,
    get written() {
      return output.text;
    },
    said: (pattern) => output.until(async () => pattern.exec(output.text) ?? undefined),
    until: (look) => output.until(look),
    end: async () => {
      const ended = output.ended ? undefined : once(child, 'close');
      child.kill();
      await ended;
    },
  };
}

/** What a program writes, and its end. */
class Output extends EventEmitter {
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

  /** @throws Error with the last of the output when the program ends before, or takes too long */
  async until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
    let isLate = false;
    const deadline = systemClock.after(STEP_MAX_MS, () => {
      isLate = true;
      this.emit('news');
    });
    try {
      for (;;) {
        const seen = this.text.length;
        const found = await look();
        if (found !== undefined) return found;
        if (this.ended) throw new Error(`${this.#name} ended: ${this.#tail()}`);
        if (isLate)
          throw new Error(
            `${this.#name} did not write the expected output in time: ${this.#tail()}`,
          );
        if (this.text.length === seen) await once(this, 'news');
      }
    } finally {
      deadline.cancel();
    }
  }

  #tail(): string {
    return this.text.slice(-SHOWN_MAX_CHARACTERS);
  }
}
