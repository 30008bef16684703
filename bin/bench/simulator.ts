/**
 * `npm run bench:simulator`: the capacity and cost of the fleet simulator on this machine, next to
 * autocannon on the same endpoint in the same run, and a check that the same seed gives the same
 * events.
 */
import { createHash } from 'node:crypto';
import autocannon from 'autocannon';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { FleetPlan } from '../../simulator/engine/simulate-fleet.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { createOutput } from '../output.ts';
import type { ServerReady } from '../ready.ts';
import { command } from './child.ts';
import type { FleetBench, FleetMeasurement } from './fleet.ts';
import { type Children, machine, median, runBench } from './run-bench.ts';
import { signInDevices } from './signed-in.ts';
import { virtualRun } from './virtual-fleet.ts';

const HELD_DEVICES = 10_000;
const HELD_SOCKETS = 5000;
const HELD_TIMES = { gatherMs: 60_000, settleMs: 20_000, measuredMs: 20_000 };
const HELD_BYTES_MAX = 30 * 1024;
const LATE_P99_MAX_MS = 20;
const CONNECTIONS = 256;
const ROUNDS = 3;
const ROUND_SECONDS = 5;
const ROUND_TIMES = { gatherMs: 1000, settleMs: 2000, measuredMs: (ROUND_SECONDS + 1) * 1000 };
const VIRTUAL_DEVICES = 50;

const output = createOutput(false);
await runBench(output, bench);

async function bench(children: Children): Promise<ExitCode> {
  output.line(`fleet simulator, node ${process.versions.node}, ${machine()}`);
  const misses = [
    ...(await held(children)),
    ...(await costOfRequests(children)),
    ...(await sameSeed()),
  ];
  for (const miss of misses) output.line(`  MISSED: ${miss}`);
  return misses.length === 0 ? exitCodes.pass : exitCodes.undecided;
}

/** Ten thousand devices that poll, half of them with a socket. */
async function held(children: Children): Promise<readonly string[]> {
  output.progress(`gathering ${HELD_DEVICES} devices`);
  const server = await freshServer(children);
  const cohorts = [
    { name: 'with sockets', weight: HELD_SOCKETS, connect: true },
    { name: 'without', weight: HELD_DEVICES - HELD_SOCKETS },
  ];
  const plan = { ...planFor(server), devices: HELD_DEVICES, cohorts };
  const seen = await measured(children, { plan, sockets: HELD_SOCKETS, ...HELD_TIMES });
  const { memory, memoryBefore } = seen;
  const bytesEach = (memory.resident - memoryBefore.resident) / HELD_DEVICES;
  const usedEach = (memory.used - memoryBefore.used) / HELD_DEVICES;
  const share = Math.round((seen.cpuMs / seen.elapsedMs) * 100);
  const rate = Math.round(seen.exchanges / (seen.elapsedMs / 1000));
  output.line(`  held          ${HELD_DEVICES} devices, ${seen.socketsOpen} sockets`);
  output.line(`  memory        ${kilobytes(bytesEach)} a device, sockets included (at most 30.0)`);
  output.line(`                ${kilobytes(usedEach)} of them in use, the rest kept by the engine`);
  output.line(`  load          ${rate} requests/s, ${share}% of a core`);
  const late = lateness(seen.late);
  output.line(`  schedule      ${late} late (p99 below ${LATE_P99_MAX_MS})`);
  output.line(`                ${lateness(seen.lateOverall)} late while it gathered too`);
  return [
    ...(bytesEach > HELD_BYTES_MAX ? [`${kilobytes(bytesEach)} a device`] : []),
    ...(seen.late.p99Ms >= LATE_P99_MAX_MS ? [`schedule error ${late}`] : []),
    ...seen.errors,
  ];
}

/** The poll without an update at full speed: fleet and autocannon in turn. */
async function costOfRequests(children: Children): Promise<readonly string[]> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    output.progress(`requests per CPU second, round ${round} of ${ROUNDS}`);
    const server = await freshServer(children);
    const plan = { ...planFor(server), devices: CONNECTIONS, pollIntervalMs: 10 };
    const seen = await measured(children, { plan, sockets: 0, ...ROUND_TIMES });
    if (seen.errors.length > 0) throw new Error(`the fleet saw ${seen.errors.join(', ')}`);
    ours.push(seen.exchanges / (seen.cpuMs / 1000));
    theirs.push(await autocannonRate(server));
  }
  const [fleet, cannon] = [median(ours), median(theirs)];
  const rounds = `medians of ${ROUNDS} rounds of ${ROUND_SECONDS} s, ${CONNECTIONS} connections`;
  output.line(`  requests per CPU second of the generator (${rounds})`);
  output.line(`    fleetbed    ${Math.round(fleet)}`);
  output.line(`    autocannon  ${Math.round(cannon)}`);
  output.line(`    ratio       ${(fleet / cannon).toFixed(2)}`);
  return [];
}

async function autocannonRate(server: ServerReady): Promise<number> {
  const tokens = await signInDevices(server, CONNECTIONS);
  const { method, path } = operations['post-next-deployment-v2'];
  const provides = { device_type: 'fleetbed-board', artifact_name: 'factory-image' };
  let connection = 0;
  const before = process.cpuUsage();
  const result = await autocannon({
    url: server.baseUrl + pathOf({ path }),
    method,
    body: JSON.stringify({ device_provides: provides }),
    connections: CONNECTIONS,
    duration: ROUND_SECONDS,
    setupClient: (client) => {
      const authorization = `Bearer ${tokens[connection++]}`;
      client.setHeaders({ authorization, 'content-type': 'application/json' });
    },
  });
  const { user, system } = process.cpuUsage(before);
  const wrong = result.non2xx + result.errors + result.timeouts;
  if (wrong > 0) throw new Error(`${wrong} polls of autocannon were not answered with 204`);
  return result['2xx'] / ((user + system) / 1_000_000);
}

/** Two runs of one seed in virtual time. */
async function sameSeed(): Promise<readonly string[]> {
  output.progress('the same seed twice, in virtual time');
  const plan = { devices: VIRTUAL_DEVICES, seed: 'bench', phase: 'random' as const };
  const logs = [];
  for (let run = 0; run < 2; run++) {
    const { events } = await virtualRun(plan);
    const digest = createHash('sha256').update(JSON.stringify(events)).digest('hex');
    logs.push({ count: events.length, digest: digest.slice(0, 16) });
  }
  const said = logs.map(({ count, digest }) => `${count} events ${digest}`).join(', ');
  output.line(`  same seed     ${said}`);
  return new Set(logs.map(({ digest }) => digest)).size === 1 ? [] : ['the two runs differ'];
}

async function freshServer(children: Children): Promise<ServerReady> {
  await children.end();
  const options = ['--port', '0', '--control-port', '0', '--auto-accept', '--log-level', 'error'];
  const server = await children.start(command, ['serve', '--json', ...options]);
  return JSON.parse(server.firstLine) as ServerReady;
}

function planFor(server: ServerReady): FleetPlan {
  return {
    baseUrl: server.baseUrl,
    headerPrefix: server.headerPrefix,
    devices: 1,
    keys: { rsa: 0, ecdsa: 0, ed25519: 1 },
    seed: 'bench',
    pollIntervalMs: 10_000,
    inventoryIntervalMs: 3_600_000,
    rampMs: 0,
    connect: false,
    behaviours: [{ name: 'steady', weight: 1 }],
    requestTimeLimitMs: 30_000,
  };
}

async function measured(children: Children, asked: FleetBench): Promise<FleetMeasurement> {
  const fleet = await children.start('fleet.js', [JSON.stringify(asked)]);
  return JSON.parse(fleet.firstLine) as FleetMeasurement;
}

function lateness({ p99Ms, maxMs }: FleetMeasurement['late']): string {
  return `p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(1)} ms`;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`;
}
