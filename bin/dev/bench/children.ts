/** Starts the child processes of a benchmark, each on the CPU core of its side. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import type { PinnedSide, Pinning } from './pinning.ts';

/** The bundled command that users run; the path is relative to the built form of this file. */
const command = fileURLToPath(new URL('../../../../dist/bin/fleetbed.js', import.meta.url));

/** A process that has printed its first line. */
export interface Child {
  readonly firstLine: string;
  readonly pid: number;
  /** Stops the process and waits for its exit. */
  end(): Promise<void>;
}

/** The reference server in a separate process. */
export interface ServerChild extends Child {
  readonly ready: ServerReady;
}

/** Arguments of a command line. */
export type CommandArgs = readonly string[];

/** Starts processes, and keeps a list of the running ones. */
export class Children {
  readonly #pinning: Pinning;
  readonly #running = new Set<ChildProcess>();

  constructor(pinning: Pinning) {
    this.#pinning = pinning;
    process.once('exit', () => {
      for (const child of this.#running) child.kill();
    });
  }

  /**
   * Starts Node with these arguments.
   * @param environment variables added to those of this process
   * @param stderr the destination of its standard error
   */
  spawn(
    side: PinnedSide,
    args: CommandArgs,
    environment: Readonly<Record<string, string>> = {},
    stderr: 'inherit' | 'ignore' = 'inherit',
  ) {
    const [program = '', ...programArgs] = [
      ...this.#pinning.launcher(side),
      process.execPath,
      ...args,
    ];
    const child = spawn(program, programArgs, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', stderr],
    });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return child;
  }

  /** Starts Node with these arguments; the caller reads its stderr. */
  spawnWithStderr(
    side: PinnedSide,
    args: CommandArgs,
    environment: Readonly<Record<string, string>>,
  ) {
    const [program = '', ...programArgs] = [
      ...this.#pinning.launcher(side),
      process.execPath,
      ...args,
    ];
    const child = spawn(program, programArgs, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return child;
  }

  /**
   * Starts Node with these arguments and waits for its first line.
   * @throws Error when the process exits before it has printed a line
   */
  start(side: PinnedSide, args: CommandArgs): Promise<Child> {
    const child = this.spawn(side, args);
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(endedEarly(args, code)));
      createInterface({ input: child.stdout }).once('line', (firstLine) =>
        resolve({ firstLine, pid: child.pid ?? 0, end: () => exitOf(child) }),
      );
    });
  }

  /** Starts a script of the folder `children`. */
  script(side: PinnedSide, name: string, ...args: CommandArgs): Promise<Child> {
    return this.start(side, [scriptFile(name), ...args]);
  }

  /** Starts the reference server on free ports, with further options. */
  async serve(...options: CommandArgs): Promise<ServerChild> {
    const child = await this.start('subject', fleetbed(...serveOptions, ...options));
    return { ...child, ready: JSON.parse(child.firstLine) as ServerReady };
  }

  /** Stops all running processes and waits for their exit. */
  async end(): Promise<void> {
    await Promise.all([...this.#running].map(exitOf));
  }
}

/** Returns the arguments for Node that run `fleetbed` with these arguments. */
export function fleetbed(...args: CommandArgs): CommandArgs {
  return [command, ...args];
}

/** Returns the path of a built script of the folder `children`. */
export function scriptFile(name: string): string {
  return fileURLToPath(new URL(`children/${name}.js`, import.meta.url));
}

/** Makes a signal exit this process, so that its children end too. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => process.exit(exitCodes.interrupted));
  }
}

const ports = ['--port', '0', '--control-port', '0'];
/** The arguments that start every server of the benchmark. */
export const serveOptions: CommandArgs = ['serve', '--json', '--log-level', 'error', ...ports];

function endedEarly([script]: CommandArgs, code: number | null): CommandError {
  const sentence = `${script} ended with exit code ${code} before its first line; see its output above.`;
  return new CommandError(sentence, exitCodes.internal);
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    else resolve();
  });
}
