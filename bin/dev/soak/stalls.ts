/**
 * Sends the worst input to every parser of untrusted data, and measures from outside how long one
 * piece of work blocks the event loop.
 */
import type { Output } from '../../output/output.ts';
import { type FuzzTarget, startFuzzTarget } from './fuzz-target.ts';
import type { SoakPart } from './part.ts';
import { speedOfMachine } from './process-figures.ts';
import { startStallProber } from './stall-prober.ts';
import { type WorstRequest, worstRequests } from './worst-requests.ts';

/** The promised limit on stalls, on a machine with the reference speed. */
const STALL_MAX_MS = 100;
/**
 * Number of trials per request. A prober that waited for a CPU core reports too much, but a real
 * stall shows in every trial.
 */
const TRIALS_MAX = 4;

/** Probes one parser after the other; each stall above the limit is a problem. */
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

/** Returns the least result of the trials; a result within the limit ends them. */
async function minOf(
  trialsMax: number,
  maxMs: number,
  trial: () => Promise<number>,
): Promise<number> {
  let minMs = Number.POSITIVE_INFINITY;
  for (let trials = 0; trials < trialsMax && minMs > maxMs; trials += 1) {
    minMs = Math.min(minMs, await trial());
  }
  return minMs;
}
