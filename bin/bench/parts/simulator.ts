/**
 * Part `simulator`: what a request costs the fleet, next to autocannon on the same operation in the
 * same run, and what a device costs that is there and polls now and then.
 */
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { ServerChild } from '../children.ts';
import { busyFleet, measuredFleet, steadyFleet } from '../fleet-asked.ts';
import { load } from '../load.ts';
import { type BenchContext, inRounds } from '../rounds.ts';
import { limitRow, type Row, rowOf } from '../row.ts';
import { signInDevices } from '../signed-in.ts';

const COST_GOAL = 0.7;
const CONNECTIONS = 256;
const ROUND_SECONDS = 6;
const QUICK_ROUND_SECONDS = 2;

/** Devices that are there at a time: with fewer, what the engine needs for itself would count. */
const DEVICES = 10_000;
const BYTES_PER_KB = 1024;
const POLLING_MAX_KB = 12;
const CONNECTED_MAX_KB = 25;
const LATE_P99_MAX_MS = 20;
const HELD_TIMES = { gatherMs: 60_000, settleMs: 20_000, measuredMs: 20_000 };

/** Measures all rows of the part; a quick run has none of those that need many devices. */
export async function simulatorRows(context: BenchContext): Promise<Row[]> {
  const cost = await costRow(context);
  if (context.quick) return [cost];
  return [
    cost,
    ...(await heldRows(context, 'polling device', false)),
    ...(await heldRows(context, 'device with its socket', true)),
  ];
}

/** The poll without an update as fast as it goes: fleet and autocannon in turn. */
async function costRow(context: BenchContext): Promise<Row> {
  const seconds = context.quick ? QUICK_ROUND_SECONDS : ROUND_SECONDS;
  const what = 'poll without an update';
  const [subject, baseline] = await inRounds(context, {
    what,
    rounds: context.rounds,
    contenders: [
      {
        name: 'fleetbed',
        measure: () => onServer(context, (server) => fleetRate(context, server, seconds)),
      },
      {
        name: 'autocannon',
        measure: () => onServer(context, (server) => cannonRate(server, seconds)),
      },
    ],
  });
  const unit = 'requests/CPU s of the generator';
  const note = `${CONNECTIONS} connections`;
  return rowOf({ what, unit, better: 'higher', goal: COST_GOAL, subject, baseline, note });
}

/** Each measurement has a server of its own, as it was started. */
async function onServer<Result>(
  { children }: BenchContext,
  act: (server: ServerChild) => Promise<Result>,
): Promise<Result> {
  const server = await children.serve('--auto-accept');
  const result = await act(server);
  await server.end();
  return result;
}

async function fleetRate(context: BenchContext, server: ServerChild, seconds: number) {
  const seen = await measuredFleet(context.children, busyFleet(server.ready, CONNECTIONS, seconds));
  return seen.exchanges / (seen.cpuMs / 1000);
}

async function cannonRate({ ready, pid }: ServerChild, seconds: number): Promise<number> {
  const tokens = await signInDevices(ready, CONNECTIONS);
  const { method, path } = operations['post-next-deployment-v2'];
  const provides = { device_type: 'fleetbed-board', artifact_name: 'factory-image' };
  const body = JSON.stringify({ device_provides: provides });
  const requests = tokens.map((token) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return [{ method, path: pathOf({ path }), headers, body }];
  });
  const place = { baseUrl: ready.baseUrl, pid, connections: CONNECTIONS };
  return (await load({ ...place, requests, status: 204, cpuSeconds: seconds }))
    .perGeneratorCpuSecond;
}

/** Many devices that poll now and then, with a socket each where they connect. Measured once. */
async function heldRows(context: BenchContext, who: string, connect: boolean): Promise<Row[]> {
  context.output.progress(`gathering ${DEVICES} devices, each a ${who}`);
  const seen = await onServer(context, (server) => {
    const plan = { ...steadyFleet(server.ready), devices: DEVICES, connect };
    const present = { devices: DEVICES, sockets: connect ? DEVICES : 0 };
    return measuredFleet(context.children, { plan, present, ...HELD_TIMES });
  });
  const { memory, memoryBefore, elapsedMs, cpuMs } = seen;
  const kilobytes = (kind: 'resident' | 'used') =>
    (memory[kind] - memoryBefore[kind]) / DEVICES / BYTES_PER_KB;
  const rate = Math.round(seen.exchanges / (elapsedMs / 1000));
  const share = Math.round((cpuMs / elapsedMs) * 100);
  const once = (value: number) => ({ name: 'fleetbed', values: [value] });
  return [
    limitRow({
      what: `memory of a ${who}`,
      unit: 'KB',
      subject: once(kilobytes('resident')),
      limit: connect ? CONNECTED_MAX_KB : POLLING_MAX_KB,
      note: `${DEVICES} devices, measured once; ${kilobytes('used').toFixed(1)} KB in use, the rest kept by the engine`,
    }),
    limitRow({
      what: `p99 of lateness, ${who}`,
      unit: 'ms',
      subject: once(seen.late.p99Ms),
      limit: LATE_P99_MAX_MS,
      note: `measured once, at ${rate} requests/s, ${share} % of a core`,
    }),
  ];
}
