/**
 * Sends hostile requests, with and without credentials, to both listeners of a server in a separate
 * process while its journal is being read. The server must answer all of them without a 5xx, stall
 * no request, stay alive, leave no descriptor open and stay within its memory limits.
 */
import fc from 'fast-check';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { type FuzzTarget, readJournal, stallsOf, startFuzzTarget } from './fuzz-target.ts';
import {
  type HostileRequest,
  hostileControlRequests,
  hostileRequests,
  hostileSockets,
} from './hostile-requests.ts';
import type { SoakPart } from './part.ts';
import { openDescriptors, residentMib } from './process-figures.ts';
import { statusOf } from './wire.ts';

const REQUESTS = 100_000;
const REQUESTS_SHORT = 6000;
/** Number of concurrent requests. */
const CONCURRENT = 16;
const BATCH = 1000;
/**
 * Limit on the growth of memory: the journal's 64 MiB, the rows that requests may create, and room
 * for the garbage collector.
 */
const GROWTH_MAX_MIB = 256;
/**
 * Limit on stalls in a short run, which shares its cores with other tests and includes a cold
 * start.
 */
const STALL_MAX_MS_SHORT = 250;
/** Wait until all connections are closed; longer than any idle timeout. */
const CLOSED_WITHIN_SECONDS = 70;

/** A request for one of the two listeners. */
interface AimedRequest extends HostileRequest {
  readonly port: number;
}

/** Sends the hostile requests and judges the state of the server. */
export const fuzz: SoakPart = async ({ output, seed, short, times }) => {
  const requests = times ?? (short ? REQUESTS_SHORT : REQUESTS);
  const target = await startFuzzTarget();
  const { pid } = target.child;
  try {
    const openBefore = openDescriptors(pid);
    const volley = new RequestBatch();
    let isOver = false;
    const reader = readJournal(target.ready, () => isOver);
    let warmMib = 0;
    for (let doneCount = 0; doneCount < requests; doneCount += BATCH) {
      const numRuns = Math.min(BATCH, requests - doneCount);
      await volley.fire(fc.sample(shotsAt(target), { seed: seed + doneCount, numRuns }));
      if (warmMib === 0 && doneCount >= requests / 5) warmMib = residentMib(pid);
      const { count } = await stallsOf(target.ready);
      output.progress(`${doneCount + numRuns} sent, ${residentMib(pid)} MiB, ${count} stalls`);
    }
    isOver = true;
    output.line(`${requests} requests, the journal read ${await reader} times meanwhile`);
    for (const [name, count] of [...volley.classes].toSorted()) output.line(`${name}: ${count}`);
    const growthMib = residentMib(pid) - warmMib;
    output.line(`growth since the first fifth: ${growthMib} MiB, at most ${GROWTH_MAX_MIB}`);
    if (growthMib > GROWTH_MAX_MIB) volley.problems.push(`the server grew by ${growthMib} MiB`);
    const { count, worstMs, worstIn } = await stallsOf(target.ready);
    output.line(`stalls: ${count}, the worst ${worstMs} ms ${worstIn}`);
    const isStall = worstMs > (short ? STALL_MAX_MS_SHORT : 0);
    if (isStall) volley.problems.push(`${count} stalls, the worst ${worstMs} ms ${worstIn}`);
    const leaked = await leftOpen(pid, openBefore);
    output.line(`descriptors left open: ${leaked}`);
    if (leaked > 0) volley.problems.push(`${leaked} descriptors stay open`);
    return volley.problems;
  } finally {
    await target.child.end();
  }
};

function shotsAt({ ready, insider }: FuzzTarget): fc.Arbitrary<AimedRequest> {
  const aimAt = (
    url: string,
    arbitrary: fc.Arbitrary<HostileRequest>,
  ): fc.Arbitrary<AimedRequest> =>
    arbitrary.map((request) => ({ ...request, port: Number(new URL(url).port) }));
  return fc.oneof(
    { weight: 12, arbitrary: aimAt(ready.baseUrl, hostileRequests(insider)) },
    { weight: 4, arbitrary: aimAt(ready.controlUrl, hostileControlRequests(ready.controlToken)) },
    { weight: 1, arbitrary: aimAt(ready.baseUrl, hostileSockets(insider)) },
  );
}

/** Sends several requests at a time, and counts the responses. */
class RequestBatch {
  /** Count of each status class; refusals for lack of capacity separately. */
  readonly classes = new Map<string, number>();
  readonly problems: string[] = [];

  async fire(shots: readonly AimedRequest[]): Promise<void> {
    const queue = shots.values();
    const worker = async (): Promise<void> => {
      for (const shot of queue) this.#record(shot, await statusOf(shot.port, shot.bytes));
    };
    await Promise.all(Array.from({ length: CONCURRENT }, worker));
  }

  #record(shot: AimedRequest, status: number): void {
    const hundred = status === 503 ? '503' : `${Math.floor(status / 100)}xx`;
    const name = status > 0 ? hundred : 'none';
    this.classes.set(name, (this.classes.get(name) ?? 0) + 1);
    const isProblem = status < 0 || (status >= 500 && status !== 503);
    if (isProblem) this.problems.push(`${status} ${shot.operation}: ${requestText(shot)}`);
  }
}

/** Returns the start of the request in a format that can be sent again by hand. */
function requestText({ bytes }: HostileRequest): string {
  return JSON.stringify(bytes.toString('latin1').slice(0, 600));
}

/** Returns the number of descriptors in excess of `countBefore` that are still open after a wait. */
async function leftOpen(pid: number, countBefore: number): Promise<number> {
  for (let waited = 0; waited < CLOSED_WITHIN_SECONDS; waited += 1) {
    if (openDescriptors(pid) <= countBefore) return 0;
    await systemClock.sleep(1000);
  }
  return openDescriptors(pid) - countBefore;
}
