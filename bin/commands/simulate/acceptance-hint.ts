/** Prints once how to accept devices, if the run does not accept them and they stay pending. */

import type { FleetPlan, FleetProgress } from '../../../simulator/engine/simulate-fleet.ts';
import { acceptanceHint } from '../../../simulator/report/headline.ts';

/** A server that accepts devices automatically has done so by then. */
const WAITED_MS = 3000;

/** Watches the progress of a run. */
export class AcceptanceHint {
  readonly #say: (text: string) => void;
  #isNeeded: boolean;
  #waitingSinceMs: number | undefined;

  constructor({ acceptWith }: FleetPlan, say: (text: string) => void) {
    this.#isNeeded = acceptWith === undefined;
    this.#say = say;
  }

  see({ funnel, elapsedMs }: FleetProgress): void {
    if (funnel.waiting === 0) this.#waitingSinceMs = undefined;
    else this.#waitingSinceMs ??= elapsedMs;
    const sinceMs = this.#waitingSinceMs;
    if (!this.#isNeeded || sinceMs === undefined || elapsedMs - sinceMs < WAITED_MS) return;
    this.#isNeeded = false;
    this.#say(acceptanceHint(funnel.waiting));
  }
}
