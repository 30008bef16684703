/** The servers of a benchmark, each in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The command as users run it, bundled; relative to this file as it is built. */
export const command = '../../../dist/bin/fleetbed.js';

/** A process that has printed its first line. */
export interface Child {
  readonly firstLine: string;
  readonly pid: number;
  /** Ends it and waits for its exit. */
  end(): Promise<void>;
}

/**
 * Starts a script of the build folder.
 * @param script relative to this file
 * @throws Error when it exits before it has printed a line
 */
export function startChild(script: string, args: readonly string[]): Promise<Child> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${script} ended with exit code ${code}`)));
    createInterface({ input: child.stdout }).once('line', (firstLine) =>
      resolve({ firstLine, pid: child.pid ?? 0, end: () => ended(child) }),
    );
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    else resolve();
  });
}
