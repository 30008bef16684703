/**
 * Hostile requests, of strangers and of insiders, to both listeners of a server in a process of
 * its own, while somebody reads its journal. It must answer all of them without a 5xx, keep
 * nobody waiting, live on, leave no descriptor open and not grow beyond what its bounds allow.
 */
import fc from 'fast-check';
import { systemClock } from '../../fixtures/clock.ts';
import { type FuzzTarget, readJournal, stallsOf, startFuzzTarget } from './fuzz-target.ts';
import { hostileControlRequests } from './hostile-control.ts';
import { hostileSockets } from './hostile-frames.ts';
import { type HostileRequest, hostileRequests } from './hostile-requests.ts';
import type { SoakPart } from './part.ts';
import { openDescriptors, residentMib } from './process-figures.ts';
import { statusOf } from './wire.ts';

const REQUESTS = 100_000;
const REQUESTS_SHORT = 6000;
/** Requests under way at a time. */
const LANES = 16;
const BATCH = 1000;
/** The journal's 64 MiB, the rows that requests may leave, and room for the collector. */
const GROWTH_MAX_MIB = 256;
/** A short run shares its cores with whatever else is tested, and has a cold start in it. */
const STALL_MAX_MS_SHORT = 250;
/** Longer than any connection may be idle. */
const CLOSED_WITHIN_SECONDS = 70;

/** One that is meant for one of the two listeners. */
interface Shot extends HostileRequest {
  readonly port: number;
}

/** Sends the hostile requests and judges what became of the server. */
export const fuzz: SoakPart = async ({ output, seed, short, times }) => {
  const requests = times ?? (short ? REQUESTS_SHORT : REQUESTS);
  const target = await startFuzzTarget();
  const { pid } = target.child;
  try {
    const openBefore = openDescriptors(pid);
    const volley = new Volley();
    let isOver = false;
    const reader = readJournal(target.ready, () => isOver);
    let warmMib = 0;
    for (let done = 0; done < requests; done += BATCH) {
      const numRuns = Math.min(BATCH, requests - done);
      await volley.fire(fc.sample(shotsAt(target), { seed: seed + done, numRuns }));
      if (warmMib === 0 && done >= requests / 5) warmMib = residentMib(pid);
      const { count } = await stallsOf(target.ready);
      output.progress(`${done + numRuns} sent, ${residentMib(pid)} MiB, ${count} stalls`);
    }
    isOver = true;
    output.line(`${requests} requests, the journal read ${await reader} times meanwhile`);
    for (const [name, count] of [...volley.classes].toSorted()) output.line(`${name}: ${count}`);
    const growthMib = residentMib(pid) - warmMib;
    output.line(`growth since the first fifth: ${growthMib} MiB, at most ${GROWTH_MAX_MIB}`);
    if (growthMib > GROWTH_MAX_MIB) volley.faults.push(`the server grew by ${growthMib} MiB`);
    const { count, worstMs, worstIn } = await stallsOf(target.ready);
    output.line(`stalls: ${count}, the worst ${worstMs} ms ${worstIn}`);
    const isStall = worstMs > (short ? STALL_MAX_MS_SHORT : 0);
    if (isStall) volley.faults.push(`${count} stalls, the worst ${worstMs} ms ${worstIn}`);
    const leaked = await leftOpen(pid, openBefore);
    output.line(`descriptors left open: ${leaked}`);
    if (leaked > 0) volley.faults.push(`${leaked} descriptors stay open`);
    return volley.faults;
  } finally {
    await target.child.end();
  }
};

function shotsAt({ ready, insider }: FuzzTarget): fc.Arbitrary<Shot> {
  const to = (url: string, arbitrary: fc.Arbitrary<HostileRequest>): fc.Arbitrary<Shot> =>
    arbitrary.map((request) => ({ ...request, port: Number(new URL(url).port) }));
  return fc.oneof(
    { weight: 12, arbitrary: to(ready.baseUrl, hostileRequests(insider)) },
    { weight: 4, arbitrary: to(ready.controlUrl, hostileControlRequests(ready.controlToken)) },
    { weight: 1, arbitrary: to(ready.baseUrl, hostileSockets(insider)) },
  );
}

/** Sends requests several at a time, and counts what came back. */
class Volley {
  /** How often each class of status came; refusals for want of room apart. */
  readonly classes = new Map<string, number>();
  readonly faults: string[] = [];

  async fire(shots: readonly Shot[]): Promise<void> {
    const queue = shots.values();
    const lane = async (): Promise<void> => {
      for (const shot of queue) this.#take(shot, await statusOf(shot.port, shot.bytes));
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  #take(shot: Shot, status: number): void {
    const hundred = status === 503 ? '503' : `${Math.floor(status / 100)}xx`;
    const name = status > 0 ? hundred : 'none';
    this.classes.set(name, (this.classes.get(name) ?? 0) + 1);
    const isFault = status < 0 || (status >= 500 && status !== 503);
    if (isFault) this.faults.push(`${status} ${shot.operation}: ${shown(shot)}`);
  }
}

/** The request's beginning, in a form that can be sent again by hand. */
function shown({ bytes }: HostileRequest): string {
  return JSON.stringify(bytes.toString('latin1').slice(0, 600));
}

/** Descriptors beyond `before` that are still open once the server had time to close them. */
async function leftOpen(pid: number, before: number): Promise<number> {
  for (let waited = 0; waited < CLOSED_WITHIN_SECONDS; waited += 1) {
    if (openDescriptors(pid) <= before) return 0;
    await systemClock.sleep(1000);
  }
  return openDescriptors(pid) - before;
}
