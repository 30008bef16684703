/** What the suite made on the target and has to remove again, the newest first. */
import { type Ledger, noLedger } from '../cleanup/ledger.ts';
import type { Operator } from './operator.ts';
import { type Made, nameOf, removeThing, type Thing, type ThingKind } from './resource.ts';

/** Removes one thing; without an operator only what needs none can be removed. */
export type Removal = (operator: Operator | undefined) => Promise<void>;

/** A thing that is about to be made. */
export interface Owned {
  /** The target gave it this id. */
  made(id: string): void;
}

/** How a thing is removed where that differs from its kind's usual way. */
type OwnRemoval = (id: string | undefined, operator: Operator | undefined) => Promise<void>;

/** The things that one case, or one run, made. */
export class Ownership {
  readonly #things: { readonly what: string; readonly remove: Removal }[] = [];
  readonly #made = new Map<ThingKind, number>();
  readonly #ledger: Ledger;
  readonly #caseId: string;
  #isReleased = false;

  /** @param caseId for which case the things are made; stands in the ledger */
  constructor(ledger: Ledger = noLedger, caseId = 'all') {
    this.#ledger = ledger;
    this.#caseId = caseId;
  }

  /** Notes that `what` exists now, which does not outlive this process, such as a socket. */
  owns(what: string, remove: Removal): void {
    this.#things.push({ what, remove });
  }

  /**
   * Announces a thing that outlives this process, before it is made; it stands in the ledger then.
   * Throws when everything was released already: the case is over.
   */
  async intend(thing: Thing, remove?: OwnRemoval): Promise<Owned> {
    if (this.#isReleased) throw new Error(`the case was over before it created ${nameOf(thing)}`);
    let id: string | undefined;
    const entry = await this.#ledger.intend(thing, this.#caseId);
    this.#made.set(thing.kind, (this.#made.get(thing.kind) ?? 0) + 1);
    this.owns(nameOf(thing), async (operator) => {
      await (remove ? remove(id, operator) : removeThing(thing, id, operator));
      entry.removed();
    });
    return {
      made: (given) => {
        id = given;
        entry.made(given);
      },
    };
  }

  /** How many things of each kind were announced. */
  get made(): Made {
    return Object.fromEntries(this.#made);
  }

  /** Removes everything, the newest first, and gives a line for each thing that stayed. */
  async release(operator: Operator | undefined): Promise<readonly string[]> {
    this.#isReleased = true;
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
