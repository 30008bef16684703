/** Figures from the operating system about a process of the soak. */
import { readdirSync, readFileSync } from 'node:fs';

const NS_PER_MS = 1_000_000;

/** Returns the memory of the process in MiB. @throws Error when it has ended */
export function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Returns the number of open files and sockets of the process. @throws Error when it has ended */
export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Returns the CPU time of the main thread so far, in milliseconds. @throws Error when it has ended */
export function loopMs(pid: number): number {
  const spentNs = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8');
  return Number.parseInt(spentNs, 10) / NS_PER_MS;
}

/**
 * CPU time of the reference work on the machine where the limits of the soak were determined, in
 * milliseconds.
 */
const TYPICAL_WORK_MS = 40;
const WORK_VALUES = 200_000;

/**
 * Returns the present speed of this machine relative to the machine where the limits of the soak
 * were determined: 0.5 when the same work takes twice the CPU time. The reference work is parsing
 * JSON.
 */
export function speedOfMachine(): number {
  const text = JSON.stringify(Array.from({ length: WORK_VALUES }, (_, index) => ({ index })));
  const loopMsBefore = loopMs(process.pid);
  JSON.parse(text);
  return TYPICAL_WORK_MS / (loopMs(process.pid) - loopMsBefore);
}
