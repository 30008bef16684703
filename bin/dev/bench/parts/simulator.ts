/**
 * Part `simulator`: compares the cost of a request in the fleet with autocannon sending the same
 * operation, and measures the memory and delay of a fleet whose devices poll occasionally.
 */
import { pathOf } from '../../../../fixtures/contract/operation.ts';
import { operations } from '../../../../fixtures/contract/operations.ts';
import { authenticateDevices } from '../authenticated-devices.ts';
import type { FleetBench, FleetMeasurement } from '../children/fleet.ts';
import type { CommandArgs, ServerChild } from '../children.ts';
import { load } from '../load.ts';
import { busyFleet, measuredFleet, steadyFleet } from '../measured-fleet.ts';
import { type BenchContext, measureInRounds } from '../rounds.ts';
import { type BenchRow, limitRow, rowOf } from '../row.ts';

const plainPolls = { title: 'poll without an update', goal: 0.7, options: [] };
const CONNECTIONS = 256;
const ROUND_SECONDS = 6;
const QUICK_ROUND_SECONDS = 2;

/** A fleet that is large enough for the engine's fixed memory not to count. */
const polling: PresentFleet = {
  deviceKind: 'polling device',
  connect: false,
  devices: 10_000,
  pollIntervalMs: 10_000,
  times: { gatherMs: 60_000, settleMs: 20_000, measuredMs: 20_000 },
};
/** As many devices with a socket as the guide of the simulator says that one process holds. */
const connectedFleet: PresentFleet = {
  ...polling,
  deviceKind: 'device with its socket',
  connect: true,
  devices: 15_000,
  pollIntervalMs: 15_000,
  times: { ...polling.times, gatherMs: 90_000 },
};
const BYTES_PER_KB = 1024;
const POLLING_MAX_KB = 12;
const CONNECTED_MAX_KB = 25;
const LATE_P99_MAX_MS = 20;

/** Measures all rows of the part; a quick run leaves out those with many devices. */
export async function simulatorRows(context: BenchContext): Promise<BenchRow[]> {
  const cost = await costRow(context, plainPolls);
  if (context.quick) return [cost];
  return [
    cost,
    ...heldRows(polling, await measuredHeldFleet(context, polling)),
    ...heldRows(connectedFleet, await measuredHeldFleet(context, connectedFleet)),
  ];
}

/** Polls whose cost is measured. */
interface PollCost {
  readonly title: string;
  readonly goal: number;
  /** Options of the server that the fleet polls; the server for autocannon runs without them. */
  readonly options: CommandArgs;
}

/**
 * Measures polls without an update and without a pause, alternating between the fleet and
 * autocannon.
 */
export async function costRow(
  context: BenchContext,
  { title, goal, options }: PollCost,
): Promise<BenchRow> {
  const seconds = context.quick ? QUICK_ROUND_SECONDS : ROUND_SECONDS;
  const [subject, baseline] = await measureInRounds(context, {
    title,
    rounds: context.rounds,
    programs: [
      {
        name: 'fleetbed',
        measure: () =>
          runOnServer(context, (server) => fleetRate(context, server, seconds), options),
      },
      {
        name: 'autocannon',
        measure: () => runOnServer(context, (server) => cannonRate(server, seconds)),
      },
    ],
  });
  const unit = 'requests/CPU s of the generator';
  const note = `${CONNECTIONS} connections`;
  return rowOf({ title, unit, better: 'higher', goal, subject, baseline, note });
}

/** Starts a new server for one measurement, and stops it afterwards. */
async function runOnServer<Result>(
  { children }: BenchContext,
  run: (server: ServerChild) => Promise<Result>,
  options: CommandArgs = [],
): Promise<Result> {
  const server = await children.serve('--auto-accept', ...options);
  try {
    return await run(server);
  } finally {
    await server.end();
  }
}

async function fleetRate(context: BenchContext, server: ServerChild, seconds: number) {
  const fleetFigures = await measuredFleet(
    context.children,
    busyFleet(server, CONNECTIONS, seconds),
  );
  return fleetFigures.exchanges / (fleetFigures.cpuMs / 1000);
}

async function cannonRate({ ready, pid }: ServerChild, seconds: number): Promise<number> {
  const tokens = await authenticateDevices(ready, CONNECTIONS);
  const { method, path } = operations['post-next-deployment-v2'];
  const provides = { device_type: 'fleetbed-board', artifact_name: 'factory-image' };
  const body = JSON.stringify({ device_provides: provides });
  const requests = tokens.map((token) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return [{ method, path: pathOf({ path }), headers, body }];
  });
  const target = { baseUrl: ready.baseUrl, pid, connections: CONNECTIONS };
  return (await load({ ...target, requests, status: 204, cpuSeconds: seconds }))
    .perGeneratorCpuSecond;
}

/** A fleet whose devices are all present during the measurement. */
export interface PresentFleet {
  /** Kind of its devices; the rows add their number. */
  readonly deviceKind: string;
  readonly devices: number;
  readonly pollIntervalMs: number;
  readonly connect: boolean;
  readonly times: Pick<FleetBench, 'gatherMs' | 'settleMs' | 'measuredMs'>;
}

/** Measures many devices that poll occasionally; with `connect`, each also holds a WebSocket. */
export async function measuredHeldFleet(
  context: BenchContext,
  fleet: PresentFleet,
): Promise<FleetMeasurement> {
  const { devices, pollIntervalMs, connect, times } = fleet;
  context.output.progress(`gathering each ${nameOf(fleet)}`);
  return runOnServer(context, ({ ready, pid: serverPid }) => {
    const plan = { ...steadyFleet(ready), devices, pollIntervalMs, connect };
    const present = { devices, sockets: connect ? devices : 0 };
    return measuredFleet(context.children, { plan, present, serverPid, ...times });
  });
}

/** Returns the name of a device in the rows, such as `polling device, one of 10,000`. */
function nameOf({ deviceKind, devices }: PresentFleet): string {
  return `${deviceKind}, one of ${devices.toLocaleString('en-US')}`;
}

/**
 * Returns the rows about the memory of a device and the delay of the fleet's requests, measured
 * once.
 */
export function heldRows(fleet: PresentFleet, measurement: FleetMeasurement): BenchRow[] {
  const { devices, connect } = fleet;
  const deviceName = nameOf(fleet);
  const { memory, memoryBefore, elapsedMs, cpuMs } = measurement;
  const kilobytes = (kind: 'resident' | 'used') =>
    (memory[kind] - memoryBefore[kind]) / devices / BYTES_PER_KB;
  const rate = Math.round(measurement.exchanges / (elapsedMs / 1000));
  const share = Math.round((cpuMs / elapsedMs) * 100);
  const once = (value: number) => ({ name: 'fleetbed', values: [value] });
  return [
    limitRow({
      title: `memory of a ${deviceName}`,
      unit: 'KB',
      subject: once(kilobytes('resident')),
      limit: connect ? CONNECTED_MAX_KB : POLLING_MAX_KB,
      note: `measured once; ${kilobytes('used').toFixed(1)} KB in use, the rest kept by the engine`,
    }),
    limitRow({
      title: `p99 of lateness, ${deviceName}`,
      unit: 'ms',
      subject: once(measurement.late.p99Ms),
      limit: LATE_P99_MAX_MS,
      note: `measured once, at ${rate} requests/s, ${share} % of a core`,
    }),
  ];
}
