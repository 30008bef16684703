/** Figures from the operating system about a process of the soak. */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the memory of the process in MiB. @throws Error when it has ended */
export function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Returns the number of open files and sockets of the process. @throws Error when it has ended */
export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
