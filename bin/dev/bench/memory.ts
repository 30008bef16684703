/** Memory of this process, without what a garbage collection would free. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../../fixtures/clock.ts';

/** Memory of a process, in bytes. */
export interface Memory {
  readonly resident: number;
  /** Live data on the heap and outside of it; without what the engine reserves for later. */
  readonly used: number;
}

/** V8 returns freed pages to the system with a delay, and some only at the next collection. */
const COLLECTIONS = 2;
const PAGES_RETURNED_MS = 1500;

let collector: (() => void) | undefined;

/** Reads the memory of this process after garbage collections, which stop everything else. */
export async function memoryNow(): Promise<Memory> {
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
