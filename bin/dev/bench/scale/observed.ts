/** Starts servers whose process includes an observer. */
import type { ServerOptions } from '../../../../server/server.ts';
import type { ServerReady } from '../../../server-access/ready.ts';
import type { ObservedServer } from '../children/observed-server.ts';
import type { Child, Children } from '../children.ts';
import type { ProcessMemory } from '../memory.ts';
import type { ProcessObservation } from './observer.ts';

const BYTES_PER_KB = 1024;
const BYTES_PER_MB = 1_000_000;

/** A process that includes an observer. */
export interface ObservedProcess extends Child {
  /** Begins an observation, and discards an earlier one. */
  begin(): Promise<void>;
  /** Ends the observation and returns it. */
  endObservation(): Promise<ProcessObservation>;
}

/** A reference server that includes an observer. */
export interface ObservedReference extends ObservedProcess {
  readonly ready: ServerReady;
}

/** The part of the first output line that `observed` needs. */
interface FirstLine {
  readonly observerUrl: string;
}

/**
 * Starts a reference server with an observer.
 * @param auditEntries number of entries in its audit log at the start
 */
export async function observedServer(
  children: Children,
  options: ServerOptions,
  auditEntries = 0,
): Promise<ObservedReference> {
  const input: ObservedServer = { options, auditEntries };
  const child = await children.script('subject', 'observed-server', JSON.stringify(input));
  return { ...observeProcess(child), ready: JSON.parse(child.firstLine) as ServerReady };
}

/** Returns the child with calls to the observer whose URL its first line contains. */
export function observeProcess(child: Child): ObservedProcess {
  const { observerUrl } = JSON.parse(child.firstLine) as FirstLine;
  return {
    ...child,
    begin: async () => {
      await (await fetch(`${observerUrl}/begin`)).text();
    },
    endObservation: async () =>
      (await (await fetch(`${observerUrl}/end`)).json()) as ProcessObservation,
  };
}

/** Returns the growth of memory in KB per item: live data, and resident memory. */
export function kilobytesEach(
  { memoryBefore, memoryAfter }: ProcessObservation,
  count: number,
): ProcessMemory {
  const each = (kind: keyof ProcessMemory) =>
    (memoryAfter[kind] - memoryBefore[kind]) / count / BYTES_PER_KB;
  return { used: each('used'), resident: each('resident') };
}

/** Returns the greatest growth of resident memory during the observation, in MB. */
export function grownMegabytes({ memoryBefore, residentPeak }: ProcessObservation): number {
  return (residentPeak - memoryBefore.resident) / BYTES_PER_MB;
}

/** Returns the figures of a program that is measured once. */
export function once(name: string, value: number) {
  return { name, values: [value] };
}
