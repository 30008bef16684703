/** Runs the built command line as a child process, as users run it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ServerReady } from '../server-access/ready.ts';

/** Path of the built command. */
export const builtCommand = fileURLToPath(new URL('../../dist/bin/fleetbed.js', import.meta.url));

/** Cache folder of the tests' RSA keys, separate from that of the user. */
const cacheFolder = fileURLToPath(new URL('../../.fleetbed/test-cache', import.meta.url));
mkdirSync(cacheFolder, { recursive: true });

/** The outcome of a child process. */
export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command of the built program, with its output so far. */
export interface RunningCommand {
  readonly child: ChildProcess;
  /**
   * Resolves with all output of the stream once it matches; rejects when the command ends before.
   */
  waitForOutput(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string>;
  readonly ended: Promise<CommandEnd>;
  /** Sends a signal and waits for the exit. */
  end(signal?: NodeJS.Signals): Promise<CommandEnd>;
}

/**
 * Starts `fleetbed` with these arguments. `environment` is added to that of the test; `launcher` is
 * a command that executes the command after it.
 */
export function startCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  launcher: readonly string[] = [],
): RunningCommand {
  if (!existsSync(builtCommand)) throw new Error('there is no built command: npm run build');
  const [program = '', ...programArgs] = [...launcher, process.execPath, builtCommand, ...args];
  const child = spawn(program, programArgs, {
    env: {
      ...process.env,
      XDG_CACHE_HOME: cacheFolder,
      // The user's own commands must not find the run files of tests.
      XDG_RUNTIME_DIR: cacheFolder,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const outputs = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      outputs[stream] += text;
    });
  }
  const end = new Promise<CommandEnd>((resolve) => {
    child.once('close', (code) => resolve({ code, ...outputs }));
  });
  return {
    child,
    ended: end,
    end: (signal = 'SIGTERM') => {
      child.kill(signal);
      return end;
    },
    waitForOutput: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(outputs[stream])) resolve(outputs[stream]);
        };
        look();
        child[stream].on('data', look);
        end.then(({ stderr }) => reject(new Error(`it ended without ${pattern}: ${stderr}`)));
      }),
  };
}

/** Runs `fleetbed` to its end. */
export function runCommand(
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
): Promise<CommandEnd> {
  return startCommand(args, environment).ended;
}

/** Starts `fleetbed serve` on free ports and returns its ready message. */
export async function startServe(
  args: readonly string[] = [],
  launcher: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
) {
  const free = ['--port', '0', '--control-port', '0', '--log-level', 'error', '--json'];
  const command = startCommand(['serve', ...free, ...args], environment, launcher);
  const ready = JSON.parse(await command.waitForOutput('stdout', /\n/));
  return { running: command, ready: ready as ServerReady };
}
