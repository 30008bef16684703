/** Common parts of the benchmarks: child processes, cleanup, machine description and median. */
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

  /** Ends them all and waits for their exit. */
  async end(): Promise<void> {
    const ended = this.#running;
    this.#running = [];
    await Promise.all(ended.map((child) => child.end()));
  }
}

/** Runs a benchmark to its end, including cleanup; its exit code becomes that of the process. */
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

/** Returns the Node version and the processors in one line. */
export function machine(): string {
  return `fleetbed ${packageVersion()}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}`;
}

/** Returns the median; the upper of the two middle values for an even number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
