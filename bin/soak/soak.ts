/**
 * `npm run soak`: hostile requests against a server in a process of its own. It must answer all of
 * them without a 5xx, live on, and not grow beyond what its bounds allow.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { systemRandom } from '../../fixtures/random.ts';
import { startChild } from '../bench/child.ts';
import { signInDevices } from '../bench/signed-in.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { reportFault } from '../fault.ts';
import { createOutput } from '../output.ts';
import type { ServerReady } from '../ready.ts';
import { type HostileRequest, hostileRequests } from './hostile-requests.ts';
import { statusOf } from './wire.ts';

const REQUESTS = 100_000;
/** Requests under way at a time. */
const LANES = 16;
const BATCH = 1000;
/** The journal's 64 MiB, the rows that requests may leave, and room for the collector. */
const GROWTH_MAX_MIB = 256;

const output = createOutput(false);
const { values } = parseArgs({
  options: { requests: { type: 'string' }, seed: { type: 'string' } },
});

try {
  process.exitCode = await soak();
} catch (fault) {
  const { exitCode, sentence } = reportFault(fault);
  output.progress(sentence);
  process.exitCode = exitCode;
}

async function soak(): Promise<ExitCode> {
  const requests = Number(values.requests ?? REQUESTS);
  const seed = Number(values.seed ?? systemRandom.integer(1, 2 ** 31 - 1));
  output.line(`${requests} hostile requests, seed ${seed}`);
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
    return await attack({ requests, seed, port: Number(new URL(ready.baseUrl).port) }, arbitrary, {
      pid: child.pid,
    });
  } finally {
    await child.end();
  }
}

async function attack(
  { requests, seed, port }: { requests: number; seed: number; port: number },
  arbitrary: fc.Arbitrary<HostileRequest>,
  { pid }: { pid: number },
): Promise<ExitCode> {
  const classes = new Map<string, number>();
  const faults: string[] = [];
  let warmMib = 0;
  for (let done = 0; done < requests; done += BATCH) {
    const numRuns = Math.min(BATCH, requests - done);
    const drawn = fc.sample(arbitrary, { seed: seed + done, numRuns });
    const queue = drawn.values();
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
    if (warmMib === 0 && done >= requests / 5) warmMib = residentMib(pid);
    output.progress(`${done + numRuns} sent, server at ${residentMib(pid)} MiB`);
  }
  const growthMib = residentMib(pid) - warmMib;
  for (const [name, count] of [...classes].toSorted()) output.line(`${name}: ${count}`);
  output.line(`growth since the first fifth: ${growthMib} MiB, at most ${GROWTH_MAX_MIB} allowed`);
  for (const fault of faults.slice(0, 20)) output.line(`fault: ${fault}`);
  return faults.length === 0 && growthMib <= GROWTH_MAX_MIB ? exitCodes.pass : exitCodes.failed;
}

/** The request's beginning, in a form that can be sent again by hand. */
function shown({ bytes }: HostileRequest): string {
  return JSON.stringify(bytes.toString('latin1').slice(0, 600));
}

/** Memory that the process holds; its end would make this fail, and so the run. */
function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
