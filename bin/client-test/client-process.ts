/** The tested client as a child process, started by the command of its author. */
import { type ChildProcess, exec, spawn } from 'node:child_process';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { systemClock } from '../../fixtures/base/clock.ts';

/** Bytes of output that are kept of one client in one scene. */
const OUTPUT_MAX_BYTES = 1_048_576;
const TAIL_BYTES = 400;
const EXIT_POLL_INTERVAL_MS = 20;
const GONE_LOOKS_MAX = 100;
/** How long a command that switches the power, or asks what is installed, may take. */
const COMMAND_LIMIT_MS = 60_000;

/** Values of the words in braces of a command. */
export interface CommandPlaceholders {
  readonly url: string;
  /** File with the certificate of the server's authority; empty without TLS. */
  readonly ca: string;
  /** Folder in which the client keeps its identity and its state. */
  readonly dir: string;
}

/** Returns the command with `{server}`, `{url}`, `{ca}` and `{dir}` replaced. */
export function filledCommand(command: string, { url, ca, dir }: CommandPlaceholders): string {
  const values: Readonly<Record<string, string>> = { url, server: url, ca, dir };
  return command.replace(/\{(url|server|ca|dir)\}/g, (_, name: string) => values[name] ?? '');
}

/** A client that is started and killed with everything that it started. */
export class ClientProcess {
  readonly #outputFile: string;
  #child: ChildProcess | undefined;
  #written = 0;
  #death: string | undefined;
  #isError = false;
  #isReleased = false;
  readonly #onDeath: () => void;

  /** @param onDeath called when the client ends although nobody killed it */
  constructor(outputFile: string, onDeath: () => void) {
    this.#outputFile = outputFile;
    this.#onDeath = onDeath;
  }

  /** A sentence about a client that ended by itself; undefined for others. */
  get death(): string | undefined {
    return this.#death;
  }

  /** True if the client ended by itself with an error. */
  get hasCrashed(): boolean {
    return this.#death !== undefined && this.#isError;
  }

  /** From now on the client may end: its power is off. */
  release(): void {
    this.#isReleased = true;
  }

  /** Starts the client in a process group of its own. The output goes to the end of its file. */
  start(command: string): void {
    const output = openSync(this.#outputFile, 'a', 0o600);
    const child = spawn(command, {
      shell: true,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#death = undefined;
    this.#isReleased = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        const writtenChunk = chunk.subarray(0, OUTPUT_MAX_BYTES - this.#written);
        this.#written += writtenChunk.length;
        if (writtenChunk.length > 0) writeSync(output, writtenChunk);
      });
    }
    child.once('error', (error) =>
      this.#recordEnd(child, `could not be started: ${error.message}`),
    );
    child.once('close', (code, signal) => {
      closeSync(output);
      this.#isError = code !== 0;
      const endText = signal === null ? `with code ${code}` : `by ${signal}`;
      this.#recordEnd(child, `ended by itself ${endText}${this.#tail()}`);
    });
  }

  /** Kills the client and its children at once, as a crash would, and waits until it has ended. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = new Promise((resolve) => child.once('close', resolve));
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
    await exit;
    // A process that has ended is still in the list of processes until its parent takes note.
    for (let looks = 0; looks < GONE_LOOKS_MAX && isRunning(child.pid); looks += 1)
      await systemClock.sleep(EXIT_POLL_INTERVAL_MS);
  }

  #recordEnd(child: ChildProcess, sentence: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    if (this.#isReleased) return;
    this.#death = `the client ${sentence}`;
    this.#onDeath();
  }

  #tail(): string {
    const file = openSync(this.#outputFile, 'r');
    try {
      const bytes = Buffer.alloc(TAIL_BYTES);
      const byteCount = readSync(
        file,
        bytes,
        0,
        TAIL_BYTES,
        Math.max(0, this.#written - TAIL_BYTES),
      );
      const line = bytes.toString('utf8', 0, byteCount).trimEnd().split('\n').at(-1) ?? '';
      return line === '' ? '' : `; its last line was: ${line}`;
    } finally {
      closeSync(file);
    }
  }
}

/** Returns true if a process of the group is left. */
function isRunning(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

/**
 * Runs a command of the author, such as a relay's, and returns what it prints.
 * @throws Error if it fails
 */
export async function printedBy(command: string): Promise<string> {
  const { stdout } = await promisify(exec)(command, { timeout: COMMAND_LIMIT_MS });
  return stdout.trim();
}
