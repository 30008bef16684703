/**
 * Hostile requests against a server in a process of its own. It must answer all of them without a
 * 5xx, live on, leave no descriptor open and not grow beyond what its bounds allow.
 */
import fc from 'fast-check';
import { systemClock } from '../../fixtures/clock.ts';
import { startChild } from '../bench/child.ts';
import { signInDevices } from '../bench/signed-in.ts';
import type { ServerReady } from '../ready.ts';
import { type HostileRequest, hostileRequests } from './hostile-requests.ts';
import type { SoakPart } from './part.ts';
import { openDescriptors, residentMib } from './process-figures.ts';
import { statusOf } from './wire.ts';

const REQUESTS = 100_000;
const REQUESTS_SHORT = 8000;
/** Requests under way at a time. */
const LANES = 16;
const BATCH = 1000;
/** The journal's 64 MiB, the rows that requests may leave, and room for the collector. */
const GROWTH_MAX_MIB = 256;

/** Longer than any connection may be idle. */
const CLOSED_WITHIN_SECONDS = 30;

/** Sends the hostile requests and judges what became of the server. */
export const fuzz: SoakPart = async ({ output, seed, short, times }) => {
  const requests = times ?? (short ? REQUESTS_SHORT : REQUESTS);
  const options = ['--port', '0', '--control-port', '0', '--auto-accept', '--log-level', 'error'];
  const child = await startChild('../fleetbed.js', ['serve', '--json', ...options]);
  try {
    const ready = JSON.parse(child.firstLine) as ServerReady;
    const [deviceToken = ''] = await signInDevices(ready, 1);
    const arbitrary = hostileRequests({
      headerPrefix: ready.headerPrefix,
      deviceToken,
      userToken: ready.adminToken,
      ids: ['11111111-2222-4333-8444-555555555555'],
    });
    const port = Number(new URL(ready.baseUrl).port);
    const openBefore = openDescriptors(child.pid);
    const classes = new Map<string, number>();
    const faults: string[] = [];
    let warmMib = 0;
    for (let done = 0; done < requests; done += BATCH) {
      const numRuns = Math.min(BATCH, requests - done);
      const queue = fc.sample(arbitrary, { seed: seed + done, numRuns }).values();
      const lane = async (): Promise<void> => {
        for (const request of queue) {
          const status = await statusOf(port, request.bytes);
          const name = status > 0 ? `${Math.floor(status / 100)}xx` : 'none';
          classes.set(name, (classes.get(name) ?? 0) + 1);
          if (status >= 500 || status < 0)
            faults.push(`${status} ${request.operation}: ${shown(request)}`);
        }
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      if (warmMib === 0 && done >= requests / 5) warmMib = residentMib(child.pid);
      output.progress(`${done + numRuns} sent, server at ${residentMib(child.pid)} MiB`);
    }
    const growthMib = residentMib(child.pid) - warmMib;
    for (const [name, count] of [...classes].toSorted()) output.line(`${name}: ${count}`);
    output.line(`growth since the first fifth: ${growthMib} MiB, at most ${GROWTH_MAX_MIB}`);
    if (growthMib > GROWTH_MAX_MIB) faults.push(`the server grew by ${growthMib} MiB`);
    const leaked = await leftOpen(child.pid, openBefore);
    output.line(`descriptors left open: ${leaked}`);
    if (leaked > 0) faults.push(`${leaked} descriptors stay open`);
    return faults;
  } finally {
    await child.end();
  }
};

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
