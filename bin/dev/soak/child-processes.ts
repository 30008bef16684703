/** Starts the processes of a soak: a server with a limit on open files, and its clients. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ServerReady } from '../../server-access/ready.ts';

/** Tests run from source; child processes run the build output. */
const buildFolder = new URL(
  import.meta.url.endsWith('.ts') ? '../../../build/bin/' : '../../',
  import.meta.url,
);

const pathOf = (script: string): string => fileURLToPath(new URL(script, buildFolder));

/** A server in a separate process. */
export interface ServerChildProcess {
  readonly ready: ServerReady;
  readonly pid: number;
  /** Returns the number of currently open files and connections. */
  openFiles(): number;
  /** Returns the memory of the server in MiB. */
  residentMib(): number;
  /** Ends the server with SIGTERM; returns its exit code. */
  end(): Promise<number | null>;
}

/**
 * Starts `fleetbed serve` on free ports with this limit of open files.
 * @throws Error when it exits before it is ready
 */
export function startLimitedServer(
  openFilesMax: number,
  args: readonly string[] = [],
): Promise<ServerChildProcess> {
  const quiet = ['--port', '0', '--control-port', '0', '--auto-accept', '--log-level', 'error'];
  const command = [pathOf('fleetbed.js'), 'serve', '--json', ...quiet, ...args];
  const limited = ['-c', 'ulimit -n "$0" && exec "$@"', String(openFilesMax), process.execPath];
  const child = spawn('sh', [...limited, ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    void exited.then((code) => reject(new Error(`the server ended with exit code ${code}`)));
    createInterface({ input: child.stdout }).once('line', (line) => {
      const pid = child.pid ?? 0;
      resolve({
        ready: JSON.parse(line) as ServerReady,
        pid,
        openFiles: () => readdirSync(`/proc/${pid}/fd`).length,
        residentMib: () => residentMib(pid),
        end: () => {
          child.kill('SIGTERM');
          return exited;
        },
      });
    });
  });
}

/** Starts a script of this folder that communicates by messages. */
export function startClient(script: string, args: readonly string[] = []): ChildProcess {
  return fork(pathOf(`dev/soak/${script}`), [...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
