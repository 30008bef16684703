/** Reads the memory of this process after a garbage collection. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../../fixtures/base/clock.ts';

/** Memory of a process, in bytes. */
export interface ProcessMemory {
  readonly resident: number;
  /** Live data on and off the heap, without memory that the engine reserves. */
  readonly used: number;
}

/** Number of garbage collections: V8 returns some freed pages only at the second one. */
const COLLECTIONS = 2;
const PAGES_RETURNED_MS = 1500;

let collector: (() => void) | undefined;

/** Reads the memory of this process after garbage collections, which stop all other work. */
export async function memoryNow(): Promise<ProcessMemory> {
  collector ??= garbageCollector();
  for (let collections = 0; collections < COLLECTIONS; collections += 1) {
    collector();
    await systemClock.sleep(PAGES_RETURNED_MS);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { resident: rss, used: heapUsed + external };
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
