/**
 * Part `estimate`: compares the estimate of `fleetbed simulate --estimate` with the same fleet in
 * real time. Each row shows the relative error.
 */
import { type FleetNeeds, needsOf } from '../../../../simulator/estimate/estimate.ts';
import { trafficOf } from '../../../commands/simulate/estimate.ts';
import { virtualUser } from '../../../virtual/virtual-server.ts';
import type { FleetMeasurement } from '../children/fleet.ts';
import { measuredFleet, steadyFleet } from '../measured-fleet.ts';
import type { BenchContext } from '../rounds.ts';
import type { BenchRow } from '../row.ts';
import { sharedFleetRows } from './estimate-shared.ts';
import { wrongRow } from './wrong-row.ts';

interface FleetSize {
  readonly devices: number;
  readonly pollIntervalMs: number;
  readonly times: {
    readonly gatherMs: number;
    readonly settleMs: number;
    readonly measuredMs: number;
  };
}

const sizes: readonly FleetSize[] = [
  {
    devices: 1000,
    pollIntervalMs: 2000,
    times: { gatherMs: 5000, settleMs: 5000, measuredMs: 10_000 },
  },
  {
    devices: 10_000,
    pollIntervalMs: 10_000,
    times: { gatherMs: 30_000, settleMs: 20_000, measuredMs: 20_000 },
  },
  {
    devices: 100_000,
    pollIntervalMs: 30_000,
    times: { gatherMs: 450_000, settleMs: 60_000, measuredMs: 60_000 },
  },
];
const startMs = Date.parse('2026-11-21T12:00:00Z');
/** Only limits of a single process matter here, so the machine has no other limits. */
const machine = { cpus: 1, memoryBytes: Number.POSITIVE_INFINITY, socketsPerProcess: 1 };

/** Measures all rows of the part; a quick run measures only the smallest fleet. */
export async function estimateRows(context: BenchContext): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const size of context.quick ? sizes.slice(0, 1) : sizes) {
    rows.push(...(await rowsOf(context, size)));
  }
  return [...rows, ...(await sharedFleetRows(context))];
}

async function rowsOf(
  { children, output }: BenchContext,
  { devices, pollIntervalMs, times }: FleetSize,
): Promise<BenchRow[]> {
  output.progress(`gathering ${devices} devices that poll every ${pollIntervalMs / 1000} s`);
  const server = await children.serve('--auto-accept');
  const plan = { ...steadyFleet(server.ready), devices, pollIntervalMs };
  const measurement = await measuredFleet(children, {
    plan,
    ...times,
    present: { devices, sockets: 0 },
    serverPid: server.pid,
  });
  await server.end();
  const { signal } = new AbortController();
  const traffic = await trafficOf({ ...plan, acceptWith: virtualUser }, startMs, { signal });
  return wrongRows(needsOf(devices, traffic, machine), measurement);
}

function wrongRows(needs: FleetNeeds, measurement: FleetMeasurement): BenchRow[] {
  const pairs = [
    ['requests/s', needs.requestsPerSecond, measurement.exchanges / (measurement.elapsedMs / 1000)],
    ['CPU time', needs.cores, measurement.cpuMs / measurement.elapsedMs],
    ['memory in MB', needs.memoryBytes / 1e6, measurement.memory.resident / 1e6],
  ] as const;
  return pairs.map(([title, estimated, measured]) =>
    wrongRow({ title, devices: needs.devices, estimated, measured }),
  );
}
