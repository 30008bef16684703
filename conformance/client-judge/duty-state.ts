/** Distinguishes the duties that a summary lists from those that it only counts. */
import type { DutyLevel, DutyState } from '../../fixtures/control/clients.ts';

/** Returns true if a summary lists the duty: one that is only observed is no gap until it was. */
export function isListed({
  level,
  state,
}: {
  readonly level: DutyLevel;
  readonly state: DutyState;
}): boolean {
  return level !== 'observed' || state === 'observed';
}
