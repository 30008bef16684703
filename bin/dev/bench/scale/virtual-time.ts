/** Measures how long a fleet takes to simulate a day and a month in virtual time. */
import { once } from 'node:events';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { type CommandArgs, fleetbed } from '../children.ts';
import type { BenchContext } from '../rounds.ts';
import { type BenchRow, limitRow } from '../row.ts';

const DEVICES = 10_000;
const runs = [
  { span: 'a day', duration: '1d', limitSeconds: 12 },
  { span: 'a month', duration: '30d', limitSeconds: 300 },
];
/** Share of the devices in a quick run; its limit is reduced by the same share. */
const QUICK_SHARE = 0.1;

/** The simulated month includes the end of life of the deprecated operations. */
const plan: CommandArgs = [
  ['--poll', '30m'],
  ['--inventory', '1d'],
  ['--ramp', '30m'],
  ['--keys', 'ecdsa=1,ed25519=1'],
  ['--deploy', 'release-2'],
  ['--deployment-phase', 'batch: 10'],
  ['--deployment-phase', 'after: 6h'],
  ['--incident', 'power-cut, at: 8h, lasting: 1h, within: 10m'],
  ['--incident', 'abort-deployment, at: 10h'],
  ['--virtual-start', '2027-08-10'],
  ['--seed', 'bench'],
].flat();

/** Measures each run in a separate process on one core; a quick run leaves out the month. */
export async function virtualTimeRows(context: BenchContext): Promise<BenchRow[]> {
  const share = context.quick ? QUICK_SHARE : 1;
  const devices = DEVICES * share;
  const rows: BenchRow[] = [];
  for (const { span, duration, limitSeconds } of context.quick ? runs.slice(0, 1) : runs) {
    const title = `${span} of ${devices.toLocaleString('en-US')} devices in virtual time`;
    context.output.progress(`living ${title}`);
    const seconds = await virtualSeconds(context, devices, duration);
    const subject = { name: 'fleetbed', values: [seconds] };
    const note =
      'a poll every 30 minutes, a deployment in phases, a power cut and an abort; measured once';
    rows.push(limitRow({ title, unit: 's', subject, limit: limitSeconds * share, note }));
  }
  return rows;
}

async function virtualSeconds(
  { children }: BenchContext,
  devices: number,
  duration: string,
): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  const args = ['simulate', '--virtual', '--devices', String(devices), '--duration', duration];
  const child = children.spawn('subject', fleetbed(...args, ...plan, '--json'), {}, 'ignore');
  child.stdout.resume();
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`simulate --virtual ended with exit code ${code}`);
  return (systemClock.monotonicMs() - startedMs) / 1000;
}
