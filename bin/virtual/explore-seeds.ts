/** Explores many runs in virtual time, each with its own order of events and its own faults. */
import { type Random, seededRandom } from '../../fixtures/base/random.ts';
import type { ExchangeFault } from '../../simulator/plan/exchange-faults.ts';
import type { FleetPlan } from '../../simulator/plan/plan.ts';
import type { Restart } from '../../simulator/plan/restarts.ts';
import type { InvariantViolation } from './invariants.ts';
import type { VirtualRun } from './run.ts';

/** Executes a run and returns what it violates. */
export type RunInVirtualTime = (virtualRun: VirtualRun) => Promise<readonly InvariantViolation[]>;

/** A failed run after shrinking. */
export interface FailedRun {
  readonly virtualRun: VirtualRun;
  readonly violations: readonly InvariantViolation[];
  /** Number of runs that shrinking took. */
  readonly shrinkRuns: number;
}

/** The outcome of an exploration. */
export interface ExplorationResult {
  /** Number of seeds tried, including the failing one. */
  readonly seeds: number;
  readonly failed: FailedRun | undefined;
}

/** Limits and observers of an exploration. */
interface ExplorationOptions {
  readonly seeds: number;
  readonly runInVirtualTime: RunInVirtualTime;
  readonly signal: AbortSignal;
  readonly onSeed?: (done: number) => void;
}

const FAULTS_MAX = 5;
const RESTARTS_MAX = 3;
const OUTAGE_MAX_MS = 60_000;
/** Number of exchanges of a device before its first poll. */
const ONBOARDING_EXCHANGES = 12;
const SHRINK_RUNS_MAX = 60;
const DURATION_MIN_MS = 1000;
const placedFaults = ['request-lost', 'response-lost', 'power-loss'] as const;
const restartKinds = ['server-at-exchange', 'server', 'device'] as const;

/**
 * Tries seeds derived from the seed of the run until one fails, then shrinks the failed run.
 */
export async function exploreSeeds(
  base: VirtualRun,
  { seeds, runInVirtualTime, signal, onSeed }: ExplorationOptions,
): Promise<ExplorationResult> {
  let triedSeeds = 0;
  while (triedSeeds < seeds && !signal.aborted) {
    const virtualRun = runForSeed(base, `${base.plan.seed}-${++triedSeeds}`);
    const violations = await runInVirtualTime(virtualRun);
    // The violations of an interrupted run are not reliable.
    if (signal.aborted) break;
    if (violations.length > 0) {
      return {
        seeds: triedSeeds,
        failed: await shrunk({ virtualRun, violations, shrinkRuns: 0 }, runInVirtualTime, signal),
      };
    }
    onSeed?.(triedSeeds);
  }
  return { seeds: triedSeeds, failed: undefined };
}

/**
 * Returns the run for a seed: interleaved, with faults and restarts at times derived from the
 * seed.
 */
function runForSeed(base: VirtualRun, seed: string): VirtualRun {
  const plan = { ...base.plan, seed };
  const random = seededRandom(`${seed}/faults`);
  const randomFaults = Array.from({ length: random.integer(0, FAULTS_MAX) }, (): ExchangeFault => {
    const name = random.pick(placedFaults);
    return { name, ...timeOf(plan, random) };
  });
  const { faults, restarts } = placedRestarts(plan);
  return {
    ...base,
    plan,
    isInterleaved: true,
    faults: [...base.faults, ...randomFaults, ...faults],
    restarts: [...base.restarts, ...restarts],
  };
}

/**
 * Returns server restarts in the middle of exchanges, where most can go wrong, and between
 * exchanges.
 */
function placedRestarts(plan: FleetPlan): Pick<VirtualRun, 'faults' | 'restarts'> {
  const { seed, devices, durationMs = 0, requestTimeLimitMs } = plan;
  const random = seededRandom(`${seed}/restarts`);
  const longestMs = Math.max(1, Math.min(OUTAGE_MAX_MS, requestTimeLimitMs / 2));
  const faults: ExchangeFault[] = [];
  const restarts: Restart[] = [];
  for (let restartsLeft = random.integer(0, RESTARTS_MAX); restartsLeft > 0; restartsLeft--) {
    const kind = random.pick(restartKinds);
    const lastingMs = random.integer(1, Math.floor(longestMs));
    if (kind === 'server-at-exchange') {
      faults.push({ name: 'server-restart', ...timeOf(plan, random), lastingMs });
    } else {
      const device = kind === 'device' ? random.integer(0, devices - 1) : undefined;
      restarts.push({ device, atMs: random.integer(0, durationMs), lastingMs });
    }
  }
  return { faults, restarts };
}

function timeOf({ durationMs = 0, pollIntervalMs, devices }: FleetPlan, random: Random) {
  const exchangesMax = ONBOARDING_EXCHANGES + Math.ceil(durationMs / pollIntervalMs);
  const device = random.integer(0, devices - 1);
  return { device, exchange: random.integer(1, exchangesMax) };
}

/** Removes from the run everything that the failure does not need. */
async function shrunk(
  failed: FailedRun,
  runInVirtualTime: RunInVirtualTime,
  signal: AbortSignal,
): Promise<FailedRun> {
  const invariants = new Set(failed.violations.map(({ invariant }) => invariant));
  let smallest = failed;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const virtualRun of smallerRuns(smallest.virtualRun)) {
      if (smallest.shrinkRuns === SHRINK_RUNS_MAX || signal.aborted) return smallest;
      const violations = await runInVirtualTime(virtualRun);
      smallest = { ...smallest, shrinkRuns: smallest.shrinkRuns + 1 };
      if (!violations.some(({ invariant }) => invariants.has(invariant))) continue;
      smallest = { ...smallest, virtualRun, violations };
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

/** Yields runs that are smaller than the given one, the largest reductions first. */
function* smallerRuns(virtualRun: VirtualRun): Generator<VirtualRun> {
  const { plan, faults, restarts } = virtualRun;
  const calm = faults.filter(({ name }) => name !== 'server-restart');
  // Removing all restarts also speeds up the following runs, because the server then stores
  // nothing.
  if (calm.length < faults.length || restarts.length > 1) {
    yield { ...virtualRun, faults: calm, restarts: [] };
  }
  for (const devices of fewer(plan.devices, 1)) {
    const isLeft = ({ device = 0 }: { readonly device?: number | undefined }): boolean =>
      device < devices;
    yield {
      ...virtualRun,
      plan: { ...plan, devices },
      faults: faults.filter(isLeft),
      restarts: restarts.filter(isLeft),
    };
  }
  for (const fault of faults) {
    yield { ...virtualRun, faults: faults.filter((each) => each !== fault) };
  }
  for (const restart of restarts) {
    yield { ...virtualRun, restarts: restarts.filter((each) => each !== restart) };
  }
  if (virtualRun.isInterleaved) yield { ...virtualRun, isInterleaved: false };
  for (const durationMs of fewer(plan.durationMs ?? 0, DURATION_MIN_MS)) {
    yield { ...virtualRun, plan: { ...plan, durationMs } };
  }
}

/**
 * Returns the smallest number, a half and three quarters of the count, if they are below the count.
 */
function fewer(count: number, smallest: number): number[] {
  const half = Math.floor(count / 2);
  const threeQuarters = Math.floor((3 * count) / 4);
  return [...new Set([smallest, half, threeQuarters])].filter(
    (each) => each >= smallest && each < count,
  );
}
