/** Servers in processes of their own that observe themselves. */
import type { ServerOptions } from '../../../../server/server.ts';
import type { ServerReady } from '../../../server-access/ready.ts';
import type { ObservedServer } from '../children/observed-server.ts';
import type { Child, Children } from '../children.ts';
import type { Memory } from '../memory.ts';
import type { Observation } from './observer.ts';

const BYTES_PER_KB = 1024;
const BYTES_PER_MB = 1_000_000;

/** A process that observes itself. */
export interface Observed extends Child {
  /** Begins an observation; one that was begun before is dropped. */
  begin(): Promise<void>;
  /** Ends the observation and returns it. */
  seen(): Promise<Observation>;
}

/** A fleetbed server that observes itself. */
export interface ObservedReference extends Observed {
  readonly ready: ServerReady;
}

/** What such a process prints. */
interface FirstLine {
  readonly observerUrl: string;
}

/** Starts our server. @param auditEntries with which its audit log begins */
export async function observedServer(
  children: Children,
  options: ServerOptions,
  auditEntries = 0,
): Promise<ObservedReference> {
  const asked: ObservedServer = { options, auditEntries };
  const child = await children.script('subject', 'observed-server', JSON.stringify(asked));
  return { ...observed(child), ready: JSON.parse(child.firstLine) as ServerReady };
}

/** A child whose first line has the URL of its observer. */
export function observed(child: Child): Observed {
  const { observerUrl } = JSON.parse(child.firstLine) as FirstLine;
  return {
    ...child,
    begin: async () => {
      await (await fetch(`${observerUrl}/begin`)).text();
    },
    seen: async () => (await (await fetch(`${observerUrl}/end`)).json()) as Observation,
  };
}

/** By how many KB memory grew for each of so many: what is in use of it, and all that is resident. */
export function kilobytesEach({ memoryBefore, memoryAfter }: Observation, count: number): Memory {
  const each = (kind: keyof Memory) =>
    (memoryAfter[kind] - memoryBefore[kind]) / count / BYTES_PER_KB;
  return { used: each('used'), resident: each('resident') };
}

/** By how many MB resident memory grew at most, for however short a time. */
export function grownMegabytes({ memoryBefore, residentPeak }: Observation): number {
  return (residentPeak - memoryBefore.resident) / BYTES_PER_MB;
}

/** The only figure of what is measured once. */
export function once(name: string, value: number) {
  return { name, values: [value] };
}
