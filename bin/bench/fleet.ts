/**
 * A fleet in a process of its own, for a benchmark: begins to measure when every device is signed in
 * and every socket open, and says what it measured on one line.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../fixtures/clock.ts';
import { type FleetPlan, simulateFleet } from '../../simulator/simulator.ts';

/** What is to be played and measured. */
export interface FleetBench {
  readonly plan: FleetPlan;
  /** Sockets that must be open before the measurement begins. */
  readonly sockets: number;
  readonly measuredMs: number;
}

/** What was seen between the moment when all were there and the end. */
export interface FleetMeasurement {
  /** Before the fleet was made and at the end with all of it there, after a collection each. */
  readonly memoryBefore: Memory;
  readonly memory: Memory;
  readonly socketsOpen: number;
  readonly exchanges: number;
  /** Over the whole run, such as `12 connect timeout`. */
  readonly errors: readonly string[];
  readonly cpuMs: number;
  readonly elapsedMs: number;
  /** How late what was due was sent, over the whole run. */
  readonly lateP99Ms: number;
  readonly lateMaxMs: number;
}

/** What the process holds, in bytes. */
interface Memory {
  readonly resident: number;
  /** What lives on the heap and outside of it; without what the engine keeps for later. */
  readonly used: number;
}

const GATHER_MAX_MS = 300_000;

const { plan, sockets, measuredMs } = JSON.parse(process.argv[2] ?? '') as FleetBench;
const collect = garbageCollector();
const memoryBefore = memoryNow();
const over = new AbortController();
const givenUp = systemClock.after(GATHER_MAX_MS, () => over.abort());
let begun: { exchanges: number; cpu: NodeJS.CpuUsage; atMs: number } | undefined;
let last = { exchanges: 0, socketsOpen: 0 };
let memory = memoryBefore;

const result = await simulateFleet(plan, {
  clock: systemClock,
  signal: over.signal,
  onProgress: (progress) => {
    last = progress;
    const isGathered = progress.funnel.idle === plan.devices && progress.socketsOpen >= sockets;
    if (begun || !isGathered) return;
    givenUp.cancel();
    const { exchanges } = progress;
    begun = { exchanges, cpu: process.cpuUsage(), atMs: systemClock.monotonicMs() };
    systemClock.after(measuredMs, () => {
      memory = memoryNow();
      over.abort();
    });
  },
});
if (!begun) throw new Error(`the fleet was not gathered within ${GATHER_MAX_MS / 1000} s`);
const { user, system } = process.cpuUsage(begun.cpu);
const { lateness } = result.generator.schedule;
const measured: FleetMeasurement = {
  memoryBefore,
  memory,
  socketsOpen: last.socketsOpen,
  exchanges: last.exchanges - begun.exchanges,
  errors: result.errors.map(({ count, operation, cause }) => `${count} ${operation} ${cause}`),
  cpuMs: (user + system) / 1000,
  elapsedMs: systemClock.monotonicMs() - begun.atMs,
  lateP99Ms: lateness.p99Ms,
  lateMaxMs: lateness.maxMs,
};
process.stdout.write(`${JSON.stringify(measured)}\n`);

function memoryNow(): Memory {
  collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { resident: rss, used: heapUsed + external };
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
