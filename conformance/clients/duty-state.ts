/** How binding a duty is, and what can be known about one. */

/** The levels of duties, the strictest first. */
export const dutyLevels = ['must', 'should', 'observed'] as const;

/**
 * How binding a duty is: `must` is stated or implied by the contract, or by an RFC on which it
 * builds; `should` is an RFC's SHOULD or the practice of the field; `observed` is shown and never
 * broken.
 */
export type DutyLevel = (typeof dutyLevels)[number];

/** The states of a duty. */
export const dutyStates = [
  ...(['kept', 'broken', 'open', 'not-met', 'not-applicable'] as const),
  ...(['not-observable', 'not-judged', 'observed'] as const),
] as const;

/**
 * What is known about one duty of one device: `kept`, `broken`, `open` (due, but there is still
 * time), `not-met` (nothing exercised it yet), `not-applicable` (a part of the API that the client
 * does not use), `not-observable` (only the device could show it), `not-judged` (exchanges were
 * dropped, or the judge was interrupted), `observed` (the contract leaves it open).
 */
export type DutyState = (typeof dutyStates)[number];

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
