/** When devices start and when they poll. Pure but for seeded chance; all times in milliseconds. */
import type { Random } from '../../fixtures/random.ts';
import type { Policy } from '../plan/cohort.ts';

/** How the first contacts of a fleet are spread over time. */
interface Ramp {
  readonly devices: number;
  readonly rampMs: number;
}

/** How long after the start of the run device `index` makes its first contact. */
export function firstContactAfterMs({ devices, rampMs }: Ramp, index: number): number {
  return (rampMs * index) / devices;
}

/** Whose polls are planned. */
export interface Poller {
  readonly index: number;
  readonly policy: Pick<Policy, 'pollIntervalMs' | 'pollJitterShare' | 'phase'>;
  /** The fleet's chance, made from its seed. */
  readonly random: Random;
}

/**
 * How long until the device's next poll. Each device has its own phase within the poll interval and
 * keeps it, whatever happens between two polls; its jitter comes on top and is forgotten.
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
 * Timers may fire a little before their time, and sums of fractions fall a little short of theirs:
 * who polled so early has polled for the moment that follows, and does not poll again then.
 */
const EARLY_MAX_MS = 2;

/** Multiples of it fill the interval from 0 to 1 evenly, however many there are. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9;

function phaseShare({ index, policy, random }: Poller): number {
  if (policy.phase === 'lockstep') return 0;
  if (policy.phase === 'even') return (index * GOLDEN_RATIO) % 1;
  return random.stream(`device/${index}/phase`).fraction();
}

/** Depends on the slot alone, so that the same fleet polls at the same moments in every run. */
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
