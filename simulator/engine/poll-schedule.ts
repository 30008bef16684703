/**
 * When devices start and when they poll. Pure except for seeded randomness; all times in
 * milliseconds.
 */
import type { Random } from '../../fixtures/random.ts';
import type { Policy } from '../plan/cohort.ts';

/** How the first contacts of a fleet are spread over time. */
interface Ramp {
  readonly devices: number;
  readonly rampMs: number;
}

/** Returns how long after the start of the run device `index` makes its first contact. */
export function firstContactAfterMs({ devices, rampMs }: Ramp, index: number): number {
  return (rampMs * index) / devices;
}

/** The device whose polls are scheduled. */
export interface Poller {
  readonly index: number;
  readonly policy: Pick<Policy, 'pollIntervalMs' | 'pollJitterShare' | 'phase'>;
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
}

/**
 * Returns the time until the device's next poll. Each device keeps its own phase within the poll
 * interval, whatever happens between two polls; jitter is added per poll and does not accumulate.
 * @param sinceStartMs time since the start of the run
 */
export function untilNextPollMs(poller: Poller, sinceStartMs: number): number {
  const { pollIntervalMs } = poller.policy;
  const sincePollMs = mod(sinceStartMs - phaseShare(poller) * pollIntervalMs, pollIntervalMs);
  const restMs = pollIntervalMs - sincePollMs;
  const waitMs = restMs < EARLY_MAX_MS ? restMs + pollIntervalMs : restMs;
  return waitMs + jitterMs(poller, sinceStartMs + waitMs);
}

/**
 * Timers may fire a little early, and sums of fractions fall a little short: a poll this early
 * counts for the slot that follows, and is not repeated in it.
 */
const EARLY_MAX_MS = 2;

/** Its multiples modulo 1 are evenly distributed, however many there are. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9;

function phaseShare({ index, policy, random }: Poller): number {
  if (policy.phase === 'lockstep') return 0;
  if (policy.phase === 'even') return (index * GOLDEN_RATIO) % 1;
  return random.stream(`device/${index}/phase`).fraction();
}

/** Depends on the slot alone, so that the same fleet polls at the same times in every run. */
function jitterMs({ index, policy, random }: Poller, slotMs: number): number {
  const { pollJitterShare, pollIntervalMs } = policy;
  if (pollJitterShare === 0) return 0;
  const slot = Math.round(slotMs / pollIntervalMs);
  const chance = random.stream(`device/${index}/poll/${slot}`).fraction();
  return chance * pollJitterShare * pollIntervalMs;
}

function mod(value: number, modulus: number): number {
  return ((value % modulus) + modulus) % modulus;
}
