/** When devices start and when they poll. Pure; all times in milliseconds. */

/** How a fleet is spread over time. */
export interface Schedule {
  readonly devices: number;
  readonly rampMs: number;
  readonly pollIntervalMs: number;
}

/** How long after the start of the run device `index` makes its first contact. */
export function firstContactAfterMs(schedule: Schedule, index: number): number {
  return (schedule.rampMs * index) / schedule.devices;
}

/**
 * How long until the device's next poll. Each device has its own phase within the poll interval,
 * as far from its neighbours' as can be, so that the fleet does not knock in step.
 * @param sinceStartMs time since the start of the run
 */
export function untilNextPollMs(schedule: Schedule, index: number, sinceStartMs: number): number {
  const { pollIntervalMs } = schedule;
  const phaseMs = ((index * GOLDEN_RATIO) % 1) * pollIntervalMs;
  const sincePollMs = mod(sinceStartMs - phaseMs, pollIntervalMs);
  return pollIntervalMs - sincePollMs;
}

/** Multiples of it fill the interval from 0 to 1 evenly, however many there are. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9;

function mod(value: number, modulus: number): number {
  return ((value % modulus) + modulus) % modulus;
}
