/** What the system knows of a process that a part of the soak runs. */
import { readdirSync, readFileSync } from 'node:fs';

/** Memory that the process holds, in MiB. @throws Error when it has ended */
export function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Files and sockets that the process has open. @throws Error when it has ended */
export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
