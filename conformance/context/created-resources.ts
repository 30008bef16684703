/** Tracks the resources that the suite created on the target, and removes them, newest first. */
import { TransportFailure } from '../target/transport-failure.ts';
import { type CleanupLedger, noLedger } from './cleanup-ledger.ts';
import {
  nameOf,
  type ResourceCounts,
  type ResourceIdentity,
  type ResourceKind,
  removeResource,
} from './resource.ts';
import type { TargetAdmin } from './target-admin.ts';

/** Maximum number of attempts to remove a resource when connections close. */
const REMOVALS_MAX = 3;

/** Removes one resource. Without a user, it throws if the removal needs a user. */
type Removal = (admin: TargetAdmin | undefined) => Promise<void>;

/** A resource that is about to be created. */
export interface AnnouncedResource {
  /** Records the ID that the target gave the resource. */
  made(id: string): void;
}

/**
 * Removes a resource for which `removeResource` is not suitable; returns whether the target had it.
 */
type OwnRemoval = (id: string | undefined, admin: TargetAdmin | undefined) => Promise<boolean>;

/** The resources that one case, or one run, created. */
export class CreatedResources {
  readonly #resources: { readonly what: string; readonly remove: Removal }[] = [];
  readonly #made = new Map<ResourceKind, number>();
  readonly #ledger: CleanupLedger;
  readonly #caseId: string;
  #isReleased = false;

  /** @param caseId the case for which the resources are created, as recorded in the ledger */
  constructor(ledger: CleanupLedger = noLedger, caseId = 'all') {
    this.#ledger = ledger;
    this.#caseId = caseId;
  }

  /** Registers something that does not outlive this process, such as a socket. */
  removeAtEnd(what: string, remove: Removal): void {
    this.#resources.push({ what, remove });
  }

  /**
   * Announces a resource that outlives this process, before it is created; writes it to the ledger.
   * Throws when everything was already released, since the case is over.
   */
  async announce(resource: ResourceIdentity, remove?: OwnRemoval): Promise<AnnouncedResource> {
    if (this.#isReleased)
      throw new Error(`the case was over before it created ${nameOf(resource)}`);
    let id: string | undefined;
    const entry = await this.#ledger.announce(resource, this.#caseId);
    let isCounted = false;
    const count = (): void => {
      if (!isCounted) this.#made.set(resource.kind, (this.#made.get(resource.kind) ?? 0) + 1);
      isCounted = true;
    };
    this.removeAtEnd(nameOf(resource), async (admin) => {
      try {
        const wasThere = await (remove ? remove(id, admin) : removeResource(resource, id, admin));
        if (wasThere) count();
      } catch (error) {
        // It is reported as left behind.
        count();
        throw error;
      }
      entry.removeWithRetries();
    });
    return {
      made: (given) => {
        id = given;
        entry.made(given);
        count();
      },
    };
  }

  /**
   * Number of created resources of each kind. The target acknowledged each with an ID, or still had
   * it at the end.
   */
  get made(): ResourceCounts {
    return Object.fromEntries(this.#made);
  }

  /** Removes everything, newest first, and returns a line for each resource that remains. */
  async release(admin: TargetAdmin | undefined): Promise<readonly string[]> {
    this.#isReleased = true;
    const leftBehind: string[] = [];
    for (let resource = this.#resources.pop(); resource; resource = this.#resources.pop()) {
      try {
        await removeWithRetries(resource.remove, admin);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        leftBehind.push(`${resource.what}: ${reason}`);
      }
    }
    return leftBehind;
  }
}

/**
 * Removes a resource, and retries when the connection closed before a response arrived. The retry
 * is safe, since removing a resource that is already gone succeeds.
 */
async function removeWithRetries(remove: Removal, admin: TargetAdmin | undefined): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await remove(admin);
    } catch (error) {
      const isCutShort = error instanceof TransportFailure && error.code === 'connection-closed';
      if (!isCutShort || attempt === REMOVALS_MAX) throw error;
    }
  }
}
