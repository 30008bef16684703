/** CPU time of other processes, as reported by the kernel. */
import { readdirSync, readFileSync } from 'node:fs';
import { systemClock } from '../../../fixtures/base/clock.ts';

const NS_PER_MS = 1_000_000;

/** True if this system reports CPU time by process and thread, in nanoseconds. */
export const hasCpuTime = readCpuMs(process.pid) !== undefined;

/**
 * Returns the CPU time that all threads of a process have used so far, in milliseconds. Rates per
 * CPU time do not depend on the speed of the load generator or on other programs. If the system
 * does not report CPU time, returns wall-clock time.
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
