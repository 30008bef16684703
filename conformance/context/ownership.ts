/** What the suite made on the target and has to remove again, the newest first. */
import { type CleanupLedger, noLedger } from './cleanup-ledger.ts';
import { type Made, nameOf, type Resource, type ResourceKind, removeResource } from './resource.ts';
import type { TargetAdmin } from './target-admin.ts';

/** Removes one resource; without an operator only what needs none can be removed. */
export type Removal = (admin: TargetAdmin | undefined) => Promise<void>;

/** A resource that is about to be made. */
export interface Owned {
  /** The target gave it this id. */
  made(id: string): void;
}

/** How a resource is removed where that differs from its kind's usual way. */
type OwnRemoval = (id: string | undefined, admin: TargetAdmin | undefined) => Promise<void>;

/** The resources that one case, or one run, made. */
export class Ownership {
  readonly #resources: { readonly what: string; readonly remove: Removal }[] = [];
  readonly #made = new Map<ResourceKind, number>();
  readonly #ledger: CleanupLedger;
  readonly #caseId: string;
  #isReleased = false;

  /** @param caseId for which case the resources are made; stands in the ledger */
  constructor(ledger: CleanupLedger = noLedger, caseId = 'all') {
    this.#ledger = ledger;
    this.#caseId = caseId;
  }

  /** Notes that `what` exists now, which does not outlive this process, such as a socket. */
  owns(what: string, remove: Removal): void {
    this.#resources.push({ what, remove });
  }

  /**
   * Announces a resource that outlives this process, before it is made; it stands in the ledger then.
   * Throws when everything was released already: the case is over.
   */
  async intend(resource: Resource, remove?: OwnRemoval): Promise<Owned> {
    if (this.#isReleased)
      throw new Error(`the case was over before it created ${nameOf(resource)}`);
    let id: string | undefined;
    const entry = await this.#ledger.intend(resource, this.#caseId);
    this.#made.set(resource.kind, (this.#made.get(resource.kind) ?? 0) + 1);
    this.owns(nameOf(resource), async (admin) => {
      await (remove ? remove(id, admin) : removeResource(resource, id, admin));
      entry.removed();
    });
    return {
      made: (given) => {
        id = given;
        entry.made(given);
      },
    };
  }

  /** How many resources of each kind were announced. */
  get made(): Made {
    return Object.fromEntries(this.#made);
  }

  /** Removes everything, the newest first, and gives a line for each resource that stayed. */
  async release(admin: TargetAdmin | undefined): Promise<readonly string[]> {
    this.#isReleased = true;
    const leftBehind: string[] = [];
    for (let resource = this.#resources.pop(); resource; resource = this.#resources.pop()) {
      try {
        await resource.remove(admin);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        leftBehind.push(`${resource.what}: ${reason}`);
      }
    }
    return leftBehind;
  }
}
