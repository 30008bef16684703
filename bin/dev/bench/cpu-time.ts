/** CPU time of other processes, as the kernel counts it. */
import { readdirSync, readFileSync } from 'node:fs';
import { systemClock } from '../../../fixtures/clock.ts';

const NS_PER_MS = 1_000_000;

/** Whether this system has CPU time by process and thread, in nanoseconds. */
export const hasCpuTime = readCpuMs(process.pid) !== undefined;

/**
 * CPU time that a process has spent so far in all its threads, in milliseconds. A rate per CPU time
 * is the server's own even if the generator is slower or other programs are running. If the system
 * does not report CPU time, this is wall-clock time.
 */
export function spentMs(pid: number): number {
  return readCpuMs(pid) ?? systemClock.monotonicMs();
}

function readCpuMs(pid: number): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const spent = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8'));
    return spent.reduce((sum, text) => sum + Number.parseInt(text, 10), 0) / NS_PER_MS;
  } catch {
    return undefined;
  }
}
