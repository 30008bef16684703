/**
 * Sends every reader of foreign structure its worst input while a prober watches from outside how
 * long the event loop stays with one piece of work.
 */
import type { Output } from '../../output/output.ts';
import { type FuzzTarget, startFuzzTarget } from './fuzz-target.ts';
import type { SoakPart } from './part.ts';
import { speedOfMachine } from './process-figures.ts';
import { startStallProber } from './stall-prober.ts';
import { type WorstRequest, worstRequests } from './worst-requests.ts';

/** What the server promises, on a machine of the speed that it was measured on. */
const STALL_MAX_MS = 100;
/** A prober that had to wait for the machine reports too much; a stall is there each time. */
const TRIALS_MAX = 4;

/** Probes one reader after the other; each stall beyond the promise is a problem. */
export const stalls: SoakPart = async ({ output, times }) => {
  const target = await startFuzzTarget();
  try {
    return await probeAll(target, output, times ?? TRIALS_MAX);
  } finally {
    await target.child.end();
  }
};

async function probeAll(target: FuzzTarget, output: Output, trialsMax: number): Promise<string[]> {
  const { pid } = target.child;
  const prober = await startStallProber({ pid, baseUrl: target.ready.baseUrl });
  const problems: string[] = [];
  try {
    for (const row of worstRequests) {
      const slowness = Math.max(1, 1 / speedOfMachine());
      const maxMs = STALL_MAX_MS * slowness;
      const minMs = await minOf(trialsMax, maxMs, await trialOf(row, target, prober));
      const figures = `${row.name}: ${minMs.toFixed(0)} ms of at most ${maxMs.toFixed(0)}`;
      output.line(figures);
      if (minMs > maxMs) problems.push(`the event loop stalls: ${figures}`);
    }
  } finally {
    prober.end();
  }
  return problems;
}

type Prober = Awaited<ReturnType<typeof startStallProber>>;

async function trialOf(row: WorstRequest, target: FuzzTarget, prober: Prober) {
  const send = await row.prepare(target);
  return () => prober.worstDuring(send);
}

/** The least of some trials; the first one within the limit is the last. */
async function minOf(
  trialsMax: number,
  maxMs: number,
  trial: () => Promise<number>,
): Promise<number> {
  let minMs = Number.POSITIVE_INFINITY;
  for (let done = 0; done < trialsMax && minMs > maxMs; done += 1) {
    minMs = Math.min(minMs, await trial());
  }
  return minMs;
}
