/**
 * Runs the fleet of a benchmark in a separate process: after ramp-up and settling, it measures the
 * fleet, then reads the memory with all devices present. The output is one line of JSON.
 */
import { writeSync } from 'node:fs';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import {
  type FleetPlan,
  type FleetProgress,
  simulateFleet,
} from '../../../../simulator/engine/simulate-fleet.ts';
import { exitCodes } from '../../../output/exit-codes.ts';
import { spentMs } from '../cpu-time.ts';
import { memoryNow, type ProcessMemory } from '../memory.ts';

/** The fleet to run, and the stages of the measurement. */
export interface FleetBench {
  readonly plan: Omit<FleetPlan, 'stages'>;
  /** Ramp-up time in milliseconds, during which the devices start one after the other. */
  readonly gatherMs: number;
  /** Additional time for the last devices to authenticate and open their sockets. */
  readonly settleMs: number;
  readonly measuredMs: number;
  /** Number of devices and sockets that must be present before the measurement starts. */
  readonly present: { readonly devices: number; readonly sockets: number };
  readonly serverPid: number;
}

/** Measurements with the whole fleet present. */
export interface FleetMeasurement {
  /** Memory before the fleet was created, after a garbage collection. */
  readonly memoryBefore: ProcessMemory;
  readonly memory: ProcessMemory;
  readonly socketsOpen: number;
  readonly exchanges: number;
  /** Errors over the whole run, such as `12 connect timeout`. */
  readonly errors: readonly string[];
  readonly cpuMs: number;
  readonly serverCpuMs: number;
  readonly elapsedMs: number;
  /** Delay between the due time of a request and its sending. */
  readonly late: FleetLateness;
  /** The delay over the whole run, including the ramp-up. */
  readonly lateOverall: FleetLateness;
}

/** Output of a run in which the fleet did not settle in time. */
export interface UnsettledFleet {
  /** A description of the missing devices or sockets. */
  readonly unsettled: string;
}

/**
 * Above this ratio some devices still authenticate, or send requests that they send only once.
 */
const EXCHANGES_PER_POLL_MAX = 1.05;

interface FleetLateness {
  readonly p99Ms: number;
  readonly maxMs: number;
}

/**
 * Time reserved for reading the memory. It comes after the measurement, because a garbage
 * collection stops the fleet.
 */
const MEMORY_MS = 20_000;
const MEASURED_STAGE = '3 hold';
const MEMORY_STAGE = '4 hold';

/** Totals of the process at one time. */
interface ProcessTotals {
  readonly exchanges: number;
  readonly cpuMs: number;
  readonly serverCpuMs: number;
  readonly atMs: number;
}

/** An error is reported as one sentence. */
process.once('uncaughtException', ({ message }) => {
  process.stderr.write(`fleet: ${message}\n`);
  process.exit(exitCodes.internal);
});

const bench = JSON.parse(process.argv[2] ?? '') as FleetBench;
const { devices } = bench.plan;
const memoryBefore = await memoryNow();
const readings: ProcessTotals[] = [];
const over = new AbortController();
let memory: ProcessMemory | undefined;
let isMemoryRead = false;
let socketsOpen = 0;

const result = await simulateFleet(
  {
    ...bench.plan,
    stages: [
      { kind: 'ramp', durationMs: bench.gatherMs, devices },
      { kind: 'hold', durationMs: bench.settleMs },
      { kind: 'hold', durationMs: bench.measuredMs },
      { kind: 'hold', durationMs: MEMORY_MS },
    ],
  },
  { clock: systemClock, signal: over.signal, onProgress: observeProgress },
);
reportOutcome(checkExchanges(measurement()));

/** Writes the measurement on one line, synchronously. */
function reportOutcome(outcome: FleetMeasurement | UnsettledFleet): void {
  writeSync(process.stdout.fd, `${JSON.stringify(outcome)}\n`);
}

function checkExchanges(outcome: FleetMeasurement): FleetMeasurement | UnsettledFleet {
  const polls = Math.round((devices * outcome.elapsedMs) / bench.plan.pollIntervalMs);
  if (outcome.exchanges <= polls * EXCHANGES_PER_POLL_MAX) return outcome;
  return { unsettled: `in place of ${polls} polls there were ${outcome.exchanges} requests` };
}

function observeProgress(progress: FleetProgress): void {
  if (progress.stage === MEASURED_STAGE) {
    readings.push(reading(progress));
    socketsOpen = progress.socketsOpen;
    const { idle } = progress.funnel;
    if (idle >= bench.present.devices && socketsOpen >= bench.present.sockets) return;
    const presentText = `${idle} devices and ${socketsOpen} sockets`;
    reportOutcome({ unsettled: `only ${presentText} of ${devices} devices were ready in time` });
    process.exit();
  }
  if (progress.stage !== MEMORY_STAGE || isMemoryRead) return;
  isMemoryRead = true;
  readings.push(reading(progress));
  void memoryNow().then((read) => {
    memory = read;
    over.abort();
  });
}

function reading({ exchanges }: FleetProgress): ProcessTotals {
  const { user, system } = process.cpuUsage();
  const serverCpuMs = spentMs(bench.serverPid);
  const atMs = systemClock.monotonicMs();
  return { exchanges, cpuMs: (user + system) / 1000, serverCpuMs, atMs };
}

function measurement(): FleetMeasurement {
  const [first, last] = [readings[0], readings.at(-1)];
  const stage = result.stages.find(({ name }) => name === MEASURED_STAGE);
  if (!first || !last || !stage || !memory)
    throw new Error('the fleet ended before it was measured');
  return {
    memoryBefore,
    memory,
    socketsOpen,
    exchanges: last.exchanges - first.exchanges,
    errors: result.errors.map(({ count, operation, cause }) => `${count} ${operation} ${cause}`),
    cpuMs: last.cpuMs - first.cpuMs,
    serverCpuMs: last.serverCpuMs - first.serverCpuMs,
    elapsedMs: last.atMs - first.atMs,
    late: latenessOf(stage.lateness),
    lateOverall: latenessOf(result.generator.schedule.lateness),
  };
}

/** Returns the p99 and the maximum of a delay, without its histogram. */
function latenessOf({ p99Ms, maxMs }: FleetLateness): FleetLateness {
  return { p99Ms, maxMs };
}
