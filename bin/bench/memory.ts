/** Memory of this process, without what a garbage collection would free. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Memory of a process, in bytes. */
export interface Memory {
  readonly resident: number;
  /** Live data on the heap and outside of it; without what the engine reserves for later. */
  readonly used: number;
}

let collector: (() => void) | undefined;

/** Reads it after a garbage collection, which holds up everything else. */
export function memoryNow(): Memory {
  collector ??= garbageCollector();
  collector();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { resident: rss, used: heapUsed + external };
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
