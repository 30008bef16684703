/** Measures how many more signatures two processes of the simulator create than one. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathOf } from '../../../../fixtures/contract/operation.ts';
import { operations } from '../../../../fixtures/contract/operations.ts';
import type { FleetResult } from '../../../../simulator/result/result.ts';
import { fleetbed } from '../children.ts';
import type { PeerResponse } from '../exchange.ts';
import { type BenchContext, measureInRounds } from '../rounds.ts';
import { type BenchRow, rowOf } from '../row.ts';

const GOAL = 1.7;
const SECONDS = 10;
const QUICK_SECONDS = 3;
const ROUNDS = 3;
const QUICK_ROUNDS = 1;
const operation = operations['post-auth-request'];
/** Options with which a refused device retries at once, with a new signature each time. */
const plan = ['--devices', '256', '--poll', '10ms', '--back-off', 'kind: fixed, min: 10ms'];
const keys = ['--keys', 'rsa=1', '--rsa-pool', '8'];
/** The response to every request: no device is ever accepted. */
const refusal: PeerResponse = {
  method: operation.method,
  path: pathOf(operation),
  status: 401,
  headers: ['content-type', 'application/json'],
  body: '{"error":"pending"}',
  keepAliveTimeoutMs: 5000,
};

/**
 * Measures the only row against `node:http` that refuses everything, so that the server is never
 * the limit.
 */
export async function twoProcessRows(context: BenchContext): Promise<BenchRow[]> {
  const bare = await context.children.script('alone', 'peer', 'node:http', JSON.stringify(refusal));
  const folder = await mkdtemp(join(tmpdir(), 'fleetbed-bench-'));
  const program = (name: string, processes: number) => ({
    name,
    measure: () => signaturesPerSecond(context, { processes, folder, port: bare.firstLine }),
  });
  const title = 'signatures of two processes of the simulator';
  try {
    const [subject, baseline] = await measureInRounds(context, {
      title,
      rounds: context.quick ? QUICK_ROUNDS : ROUNDS,
      programs: [program('two processes', 2), program('one process', 1)],
    });
    const note =
      'RSA keys of 2048 bits, against node:http that refuses every device; no process has a core of its own';
    const unit = 'authentication requests/s';
    return [rowOf({ title, unit, better: 'higher', goal: GOAL, subject, baseline, note })];
  } finally {
    await rm(folder, { recursive: true });
    await bare.end();
  }
}

interface ProcessSettings {
  readonly processes: number;
  /** Folder of the RSA keys, which are generated only once. */
  readonly folder: string;
  readonly port: string;
}

async function signaturesPerSecond(
  { children, quick }: BenchContext,
  { processes, folder, port }: ProcessSettings,
): Promise<number> {
  const length = `${quick ? QUICK_SECONDS : SECONDS}s`;
  const args = ['--url', `http://127.0.0.1:${port}`, '--processes', String(processes)];
  const run = ['--duration', length, '--drain', '0s', '--rsa-pool-folder', folder, '--json'];
  const simulate = fleetbed('simulate', ...plan, ...keys, ...args, ...run);
  // Standard error is ignored: it has only the report for people.
  const child = children.spawn('alone', simulate, {}, 'ignore');
  const exit = once(child, 'exit');
  const result = JSON.parse(await text(child.stdout)) as FleetResult;
  await exit;
  const { count = 0 } = result.latencies.find((row) => row.operation === operation.id) ?? {};
  return count / (result.durationMs / 1000);
}
