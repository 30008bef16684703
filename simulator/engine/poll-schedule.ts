/**
 * Computes when devices make their first contact and when they poll. The functions are pure except
 * for seeded randomness; all times are in milliseconds.
 */
import type { Random } from '../../fixtures/base/random.ts';
import type { Policy } from '../plan/cohort.ts';

/** The number of devices and the time over which their first contacts are distributed. */
interface Ramp {
  readonly devices: number;
  readonly rampMs: number;
}

/** Returns the milliseconds from the start of the run to the first contact of device `index`. */
export function firstContactAfterMs({ devices, rampMs }: Ramp, index: number): number {
  return (rampMs * index) / devices;
}

/** A device and its policy, for the computation of its polls. */
export interface Poller {
  readonly index: number;
  readonly policy: Pick<Policy, 'pollIntervalMs' | 'pollJitterShare' | 'pollSpread'>;
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
}

/**
 * Returns the milliseconds until the device's next poll. Each device has a fixed place within the
 * poll interval, so a long cycle does not shift its later polls. Jitter is added to each poll and
 * does not accumulate.
 * @param sinceStartMs milliseconds since the start of the run
 */
export function untilNextPollMs(poller: Poller, sinceStartMs: number): number {
  const { pollIntervalMs } = poller.policy;
  const sincePollMs = mod(sinceStartMs - offsetShare(poller) * pollIntervalMs, pollIntervalMs);
  const restMs = pollIntervalMs - sincePollMs;
  const waitMs = restMs < EARLY_MAX_MS ? restMs + pollIntervalMs : restMs;
  return waitMs + jitterMs(poller, sinceStartMs + waitMs);
}

/**
 * Tolerance for timers that fire early and for rounding errors. A poll that is early by less than
 * this counts as the poll of the slot that follows, so that it is not repeated there.
 */
const EARLY_MAX_MS = 2;

/** The multiples of this number modulo 1 are evenly distributed for any number of devices. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9;

function offsetShare({ index, policy, random }: Poller): number {
  if (policy.pollSpread === 'lockstep') return 0;
  if (policy.pollSpread === 'even') return (index * GOLDEN_RATIO) % 1;
  return random.stream(`device/${index}/phase`).fraction();
}

/**
 * Returns the jitter of a poll. It depends on the slot alone, so that the same fleet polls at the
 * same times in every run.
 */
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
