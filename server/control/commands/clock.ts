/** Steering the time of a tenant: what a command may say, and what it does. */
import * as v from 'valibot';
import { isTimestamp, timestampMs } from '../../../fixtures/contract/text.ts';
import type { SteeredClock } from '../../../fixtures/steered-clock.ts';

/** Ten years; the calendar ends within one. */
const ADVANCE_MAX_SECONDS = 3650 * 86_400;
const RATE_MAX = 10_000;

const momentShape = v.pipe(
  v.string('must be a string'),
  v.check(isTimestamp, 'must be a date-time such as 2027-08-25T00:00:00Z'),
  v.transform(timestampMs),
);

/** One move of the clock, or another pace, or both; moments in ISO 8601. */
export const clockCommandShape = v.pipe(
  v.strictObject(
    {
      now: v.optional(momentShape),
      until: v.optional(momentShape),
      advanceSeconds: v.optional(
        v.pipe(
          v.number('must be a number'),
          v.minValue(0, 'must not be negative; use "now" to set the clock back'),
          v.maxValue(ADVANCE_MAX_SECONDS, `must be at most ${ADVANCE_MAX_SECONDS}`),
        ),
      ),
      rate: v.optional(
        v.pipe(
          v.number('must be a number'),
          v.minValue(0, 'must be 0 (frozen) or more'),
          v.maxValue(RATE_MAX, `must be at most ${RATE_MAX}`),
        ),
      ),
    },
    ({ expected }) =>
      expected === 'never'
        ? 'is unknown; the fields are now, until, advanceSeconds and rate'
        : 'must be an object',
  ),
  v.check(({ now, until, advanceSeconds, rate }) => {
    const moves = [now, until, advanceSeconds].filter((given) => given !== undefined);
    return moves.length === 1 || (moves.length === 0 && rate !== undefined);
  }, 'give one of now, until and advanceSeconds, or rate alone'),
);

type ClockCommand = v.InferOutput<typeof clockCommandShape>;

/** Executes a command; why not when it cannot be, and the clock stays where it is. */
export function steerClock(
  clock: SteeredClock,
  { now, until, advanceSeconds, rate }: ClockCommand,
): string | undefined {
  if (until !== undefined && until < clock.now()) {
    return 'until: is in the past; use "now" to set the clock back';
  }
  const moment = now ?? until;
  if (moment !== undefined) clock.set(moment);
  if (advanceSeconds !== undefined) clock.advance(advanceSeconds * 1000);
  if (rate !== undefined) clock.scale(rate);
  return undefined;
}
