/**
 * Keeps its CPU core and the shared memory bus busy in a separate process until it is stopped, or
 * for ten minutes.
 */
import { systemClock } from '../../../../fixtures/base/clock.ts';

const LASTS_MS = 600_000;
/** An array that is larger than the caches of a core. */
const numbers = new Float64Array(4 * 2 ** 20);

process.stdout.write('busy\n');
const untilMs = systemClock.monotonicMs() + LASTS_MS;
while (systemClock.monotonicMs() < untilMs) {
  for (let at = 0; at < numbers.length; at++) numbers[at] = (numbers[at] ?? 0) + at;
}
