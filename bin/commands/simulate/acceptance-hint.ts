/** Prints once how to accept devices when devices stay pending and the run does not accept them. */
import type { FleetPlan, FleetProgress } from '../../../simulator/engine/simulate-fleet.ts';
import { acceptanceHint } from '../../../simulator/result/contact-findings.ts';

/** Delay before the hint: a server that accepts devices automatically has accepted them by then. */
const WAITED_MS = 3000;

/** Watches the progress of a run. */
export class AcceptanceHint {
  readonly #print: (text: string) => void;
  #isNeeded: boolean;
  #pendingSinceMs: number | undefined;

  constructor({ acceptWith }: FleetPlan, print: (text: string) => void) {
    this.#isNeeded = acceptWith === undefined;
    this.#print = print;
  }

  show({ funnel, elapsedMs }: FleetProgress): void {
    if (funnel.pending === 0) this.#pendingSinceMs = undefined;
    else this.#pendingSinceMs ??= elapsedMs;
    const sinceMs = this.#pendingSinceMs;
    if (!this.#isNeeded || sinceMs === undefined || elapsedMs - sinceMs < WAITED_MS) return;
    this.#isNeeded = false;
    this.#print(acceptanceHint(funnel.pending));
  }
}
