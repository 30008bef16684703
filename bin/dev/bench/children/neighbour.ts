/**
 * Keeps its core and the memory that all cores share busy, in a process of its own, until it is
 * ended; by itself after ten minutes.
 */
import { systemClock } from '../../../../fixtures/clock.ts';

const LASTS_MS = 600_000;
/** More than the caches of a core hold. */
const numbers = new Float64Array(4 * 2 ** 20);

process.stdout.write('busy\n');
const untilMs = systemClock.monotonicMs() + LASTS_MS;
while (systemClock.monotonicMs() < untilMs) {
  for (let at = 0; at < numbers.length; at++) numbers[at] = (numbers[at] ?? 0) + at;
}
