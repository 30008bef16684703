/**
 * `fleetbed simulate --estimate`: estimates the machines that the planned fleet and larger fleets
 * need.
 */
import { countText } from '../../../fixtures/base/count-text.ts';
import { durationText } from '../../../fixtures/base/duration.ts';
import type { FleetPlan, FleetProgress } from '../../../simulator/engine/simulate-fleet.ts';
import {
  type DeviceTraffic,
  type FleetNeeds,
  type GeneratorMachine,
  needsOf,
} from '../../../simulator/estimate/estimate.ts';
import { thisMachineFacts } from '../../../simulator/metrics/generator-machine.ts';
import { cohortsOf } from '../../../simulator/plan/cohort.ts';
import { columns } from '../../../simulator/report/columns.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import type { Output } from '../../output/output.ts';
import { stopSignals } from '../../output/stop-signal.ts';
import { packageVersion } from '../../output/version.ts';
import { runVirtually, type VirtualEnvironment } from '../../virtual/run.ts';
import { connectedShare, machineLimits, socketsWithin } from './preflight.ts';
import { type MeteredTraffic, TrafficMeter } from './traffic-meter.ts';

export { virtualUser } from '../../virtual/virtual-server.ts';

const SAMPLE_DEVICES = 100;
const HOUR_MS = 3_600_000;
const POLLS_MIN = 4;
/** Longest request interval that is counted, in polls; rarer requests are ignored. */
const POLLS_MAX = 100;
const BYTES_PER_GIB = 2 ** 30;
const COUNTED_STAGE = '3 hold';
const largerFleets = [1_000_000, 10_000_000, 100_000_000];
/** The default for the limit of open files: the hard limit on most systems. */
const OPEN_FILES_DEFAULT = 65_536;

/** An estimate and the figures that it is based on. */
interface FleetEstimate {
  readonly sample: { readonly devices: number; readonly durationMs: number };
  readonly device: DeviceTraffic;
  readonly machine: GeneratorMachine;
  /** The needs of the planned fleet, then of larger ones. */
  readonly fleets: readonly FleetNeeds[];
}

/** Runs a sample of the fleet in virtual time, and prints the needs of the whole fleet. */
export async function estimate(
  plan: FleetPlan,
  output: Output,
  startMs: number,
): Promise<ExitCode> {
  const signals = stopSignals();
  const sample = sampleOf(plan);
  const { devices } = sample.plan;
  output.progress(
    `simulating ${countText(devices, 'device')} for ${durationText(sample.durationMs)}`,
  );
  const device = await trafficOf(plan, startMs, signals);
  if (signals.signal.aborted) return exitCodes.interrupted;
  const { openFilesMax = OPEN_FILES_DEFAULT } = await machineLimits();
  const { cpus, memoryBytes } = thisMachineFacts(undefined);
  const socketsPerProcess = Math.max(1, socketsWithin(openFilesMax));
  const machine = { cpus, memoryBytes, socketsPerProcess };
  const sizes = [plan.devices, ...largerFleets.filter((size) => size > plan.devices)];
  const fleetEstimate: FleetEstimate = {
    sample: { devices, durationMs: sample.durationMs },
    device,
    machine,
    fleets: sizes.map((size) => needsOf(size, device, machine)),
  };
  output.data(fleetEstimate);
  output.line(estimateText(fleetEstimate));
  return exitCodes.pass;
}

interface TrafficSample {
  readonly plan: FleetPlan;
  /** Virtual time over which traffic is counted. */
  readonly durationMs: number;
}

/**
 * Returns the plan with few devices and without an update; all devices authenticate before counting
 * begins.
 */
function sampleOf(plan: FleetPlan): TrafficSample {
  const {
    deploy: _deploy,
    deploymentPhases: _phases,
    deploymentId: _deployment,
    durationMs: runMs = HOUR_MS,
    iterations: _iterations,
    until: _until,
    incidents: _incidents,
    shard: _shard,
    cohorts,
    arrivals,
    pollsPerSecond,
    ...rest
  } = plan;
  const pollMs = Math.max(...cohortsOf(plan).map(({ policy }) => policy.pollIntervalMs));
  const devices = Math.min(plan.devices, SAMPLE_DEVICES);
  const durationMs = Math.max(Math.min(runMs, POLLS_MAX * pollMs), POLLS_MIN * pollMs);
  const stages: FleetPlan['stages'] = [
    { kind: 'ramp', durationMs: pollMs, devices },
    { kind: 'hold', durationMs: 2 * pollMs },
    { kind: 'hold', durationMs },
  ];
  // Virtual runs have no WebSockets.
  const unconnected = cohorts?.map((cohort) => ({ ...cohort, connect: false }));
  // The rates of a plan are those of its whole fleet.
  const share = devices / plan.devices;
  const rates = {
    arrivals: arrivals?.map(({ event, perSecond }) => ({ event, perSecond: perSecond * share })),
    pollsPerSecond: pollsPerSecond && pollsPerSecond * share,
  };
  const sample = { ...rest, ...rates, connect: false, devices, stages, rampMs: 0 };
  return { plan: { ...sample, ...(unconnected && { cohorts: unconnected }) }, durationMs };
}

/**
 * Runs a sample of the fleet in virtual time.
 * @param startMs start of the virtual time, in milliseconds since the Unix epoch
 * @returns the average traffic of a device
 */
export async function trafficOf(
  fullPlan: FleetPlan,
  startMs: number,
  signals: Pick<VirtualEnvironment, 'signal' | 'forceStop'>,
): Promise<DeviceTraffic> {
  const { plan, durationMs } = sampleOf(fullPlan);
  const meter = new TrafficMeter(plan.headerPrefix);
  let earlierTotals: MeteredTraffic | undefined;
  await runVirtually(
    { plan, startMs, faults: [], restarts: [], isInterleaved: false },
    {
      ...signals,
      version: packageVersion(),
      wrapListener: meter.listenerBefore,
      onProgress: ({ stage }: FleetProgress) => {
        if (stage === COUNTED_STAGE) earlierTotals ??= meter.totals;
      },
    },
  );
  const totals = meter.totals;
  const perSecond = (name: keyof MeteredTraffic): number =>
    (totals[name] - (earlierTotals?.[name] ?? 0)) / plan.devices / (durationMs / 1000);
  return {
    requests: perSecond('requests'),
    sentBytes: perSecond('sentBytes'),
    receivedBytes: perSecond('receivedBytes'),
    connectedShare: connectedShare(fullPlan),
  };
}

const rows: readonly (readonly [string, (fleet: FleetNeeds) => string])[] = [
  ['requests/s', ({ requestsPerSecond }) => tenths(requestsPerSecond)],
  ['sent, Mbit/s', ({ sentBytesPerSecond }) => megabits(sentBytesPerSecond)],
  ['received, Mbit/s', ({ receivedBytesPerSecond }) => megabits(receivedBytesPerSecond)],
  ['sockets', ({ sockets }) => whole(sockets)],
  ['cores', ({ cores }) => tenths(cores)],
  ['memory, GiB', ({ memoryBytes }) => tenths(memoryBytes / BYTES_PER_GIB)],
  ['processes', ({ processes }) => whole(processes)],
  ['machines', ({ machines }) => whole(machines)],
  ['Redis commands/s', ({ redisCommandsPerSecond }) => whole(redisCommandsPerSecond)],
  ['Redis, Mbit/s', ({ redisBytesPerSecond }) => megabits(redisBytesPerSecond)],
];

function estimateText({ sample, device, machine, fleets }: FleetEstimate): string {
  const table = [
    ['devices', ...fleets.map(({ devices }) => whole(devices))],
    ...rows.map(([name, figureOf]) => [name, ...fleets.map(figureOf)]),
  ];
  const { cpus, memoryBytes, socketsPerProcess } = machine;
  const memory = (memoryBytes / BYTES_PER_GIB).toFixed(1);
  return [
    'Resources needed to simulate this fleet and larger ones',
    ...columns(table).map((line) => `  ${line}`),
    '',
    `  A device makes ${tenths(device.requests * 3600)} requests per hour (polls and inventory), counted on ${sample.devices} devices over`,
    `  ${durationText(sample.durationMs)} of virtual time, without an update and without TLS.`,
    `  The machines are assumed to be like this one: ${cpus} cores, ${memory} GiB, ${whole(socketsPerProcess)} sockets per process (ulimit -n).`,
    '  Redis is needed only if workers share the fleet.',
  ].join('\n');
}

function whole(value: number): string {
  return Math.ceil(value).toLocaleString('en-US');
}

function megabits(bytesPerSecond: number): string {
  return tenths((bytesPerSecond * 8) / 1e6);
}

function tenths(value: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
