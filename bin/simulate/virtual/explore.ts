/** Many runs in virtual time, each with its own order of events and its own faults. */
import { seededRandom } from '../../../fixtures/random.ts';
import type { ExchangeFault } from '../../../simulator/plan/exchange-faults.ts';
import type { Violation } from './invariants.ts';
import type { VirtualTrial } from './run.ts';

/** Runs a trial and returns what it violates. */
export type Play = (trial: VirtualTrial) => Promise<readonly Violation[]>;

/** A trial that fails, as small as it was made. */
export interface FailedTrial {
  readonly trial: VirtualTrial;
  readonly violations: readonly Violation[];
  /** Runs that made it smaller, or tried to. */
  readonly shrinkRuns: number;
}

/** The outcome of an exploration. */
export interface Exploration {
  /** Seeds that were tried, the failing one included. */
  readonly seeds: number;
  readonly failed: FailedTrial | undefined;
}

/** How far to explore, and who watches. */
interface ExploreOptions {
  readonly seeds: number;
  readonly play: Play;
  readonly signal: AbortSignal;
  readonly onSeed?: (done: number) => void;
}

const FAULTS_MAX = 5;
/** Exchanges of a device before its first poll. */
const ONBOARDING_EXCHANGES = 12;
const SHRINK_RUNS_MAX = 60;
const DURATION_LEAST_MS = 1000;
const placedFaults = ['request-lost', 'answer-lost', 'power-loss'] as const;

/** Tries seeds derived from the trial's own until one fails; shrinks that one. */
export async function explore(
  base: VirtualTrial,
  { seeds, play, signal, onSeed }: ExploreOptions,
): Promise<Exploration> {
  let tried = 0;
  while (tried < seeds && !signal.aborted) {
    const trial = trialOf(base, `${base.plan.seed}-${++tried}`);
    const violations = await play(trial);
    // A run that was interrupted has proved nothing.
    if (signal.aborted) break;
    if (violations.length > 0) {
      return {
        seeds: tried,
        failed: await shrunk({ trial, violations, shrinkRuns: 0 }, play, signal),
      };
    }
    onSeed?.(tried);
  }
  return { seeds: tried, failed: undefined };
}

/** The trial of a seed: interleaved, with faults where the seed places them. */
function trialOf(base: VirtualTrial, seed: string): VirtualTrial {
  const plan = { ...base.plan, seed };
  const random = seededRandom(`${seed}/faults`);
  const { durationMs = 0, pollIntervalMs, devices } = plan;
  const exchangesMax = ONBOARDING_EXCHANGES + Math.ceil(durationMs / pollIntervalMs);
  const placed = Array.from({ length: random.integer(0, FAULTS_MAX) }, (): ExchangeFault => {
    const name = placedFaults[random.integer(0, placedFaults.length - 1)] ?? 'answer-lost';
    const device = random.integer(0, devices - 1);
    return { name, device, exchange: random.integer(1, exchangesMax) };
  });
  return { ...base, plan, faults: [...base.faults, ...placed], isInterleaved: true };
}

/** Takes away whatever the failure does not need, as long as something can be. */
async function shrunk(failed: FailedTrial, play: Play, signal: AbortSignal): Promise<FailedTrial> {
  const wanted = new Set(failed.violations.map(({ invariant }) => invariant));
  let least = failed;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const trial of smallerTrials(least.trial)) {
      if (least.shrinkRuns === SHRINK_RUNS_MAX || signal.aborted) return least;
      const violations = await play(trial);
      least = { ...least, shrinkRuns: least.shrinkRuns + 1 };
      if (!violations.some(({ invariant }) => wanted.has(invariant))) continue;
      least = { ...least, trial, violations };
      isSmaller = true;
      break;
    }
  }
  return least;
}

/** The greatest steps first. */
function* smallerTrials(trial: VirtualTrial): Generator<VirtualTrial> {
  const { plan, faults } = trial;
  for (const devices of fewer(plan.devices, 1)) {
    const left = faults.filter(({ device }) => device < devices);
    yield { ...trial, plan: { ...plan, devices }, faults: left };
  }
  for (const fault of faults) {
    yield { ...trial, faults: faults.filter((each) => each !== fault) };
  }
  if (trial.isInterleaved) yield { ...trial, isInterleaved: false };
  for (const durationMs of fewer(plan.durationMs ?? 0, DURATION_LEAST_MS)) {
    yield { ...trial, plan: { ...plan, durationMs } };
  }
}

/** The least, a half and three quarters, as far as these are less. */
function fewer(count: number, least: number): number[] {
  const half = Math.floor(count / 2);
  const most = Math.floor((3 * count) / 4);
  return [...new Set([least, half, most])].filter((each) => each >= least && each < count);
}
