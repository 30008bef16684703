/** Controls the time of a tenant. */
import type { AdjustableClock } from '../../../fixtures/base/adjustable-clock.ts';
import type { BodyOf } from '../../../fixtures/control/operations.ts';

/**
 * Executes a clock command. Returns the problem if the command is invalid; the clock is then
 * unchanged.
 */
export function applyClockCommand(
  clock: AdjustableClock,
  { now, until, advanceSeconds, rate }: BodyOf<'POST /clock'>,
): string | undefined {
  if (until !== undefined && until < clock.now()) {
    return 'until: is in the past; use "now" to set the clock back';
  }
  const time = now ?? until;
  if (time !== undefined) clock.set(time);
  if (advanceSeconds !== undefined) clock.advance(advanceSeconds * 1000);
  if (rate !== undefined) clock.scale(rate);
  return undefined;
}
