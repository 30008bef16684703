/** What every benchmark shares: its children, its end, the machine and the median. */
import { cpus } from 'node:os';
import type { ExitCode } from '../exit-codes.ts';
import { reportFault } from '../fault.ts';
import type { Output } from '../output.ts';
import { packageVersion } from '../version.ts';
import { type Child, startChild } from './child.ts';

/** The processes that a benchmark has started. */
export class Children {
  #running: Child[] = [];

  /** @param script relative to this folder */
  async start(script: string, args: readonly string[]): Promise<Child> {
    const child = await startChild(script, args);
    this.#running.push(child);
    return child;
  }

  /** Ends them all and waits until they are gone. */
  async end(): Promise<void> {
    const ended = this.#running;
    this.#running = [];
    await Promise.all(ended.map((child) => child.end()));
  }
}

/** Runs a benchmark to its end, whatever it is; its code becomes that of the process. */
export async function runBench(
  output: Output,
  bench: (children: Children) => Promise<ExitCode>,
): Promise<void> {
  const children = new Children();
  try {
    process.exitCode = await bench(children);
  } catch (fault) {
    const { exitCode, sentence } = reportFault(fault);
    output.progress(sentence);
    process.exitCode = exitCode;
  } finally {
    await children.end();
  }
}

/** The version and the processors, in one line. */
export function machine(): string {
  return `fleetbed ${packageVersion()}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}`;
}

/** The middle one; the upper of two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
