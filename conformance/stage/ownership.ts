/** What the suite made on the target and has to remove again, the newest first. */
import type { Operator } from './operator.ts';

/** Removes one thing; without an operator only what needs none can be removed. */
export type Removal = (operator: Operator | undefined) => Promise<void>;

/** The things that one case, or one run, made. */
export class Ownership {
  readonly #things: { readonly what: string; readonly remove: Removal }[] = [];

  /** Notes that `what` exists now; `remove` is called once, when everything is released. */
  owns(what: string, remove: Removal): void {
    this.#things.push({ what, remove });
  }

  /** Removes everything, the newest first, and gives a line for each thing that stayed. */
  async release(operator: Operator | undefined): Promise<readonly string[]> {
    const leftBehind: string[] = [];
    for (let thing = this.#things.pop(); thing; thing = this.#things.pop()) {
      try {
        await thing.remove(operator);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        leftBehind.push(`${thing.what}: ${reason}`);
      }
    }
    return leftBehind;
  }
}
