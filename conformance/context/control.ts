/**
 * Powers over a target that no client has, as testbeds give them. A case that uses one names its
 * capability among its needs: `clock-control` for `advance`, and so on.
 */
import type { ManagementId } from '../../fixtures/contract/management/index.ts';
import type { OperationId } from '../../fixtures/contract/operations.ts';
import type { LearnSecret } from '../target/mask.ts';
import type { Session } from '../target/target.ts';
import type { Capability } from './capabilities.ts';
import type { TargetAdmin } from './target-admin.ts';

/** So many requests in so long a window, for each caller by itself. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** What one has to give to have a tenant made. */
export interface TenantOrder {
  /** Records the exchanges of the tenant's operator. */
  readonly session: Session;
  /** A name that only this run uses. */
  readonly name: string;
  readonly learnSecret: LearnSecret;
}

/** A tenant that exists for one case. */
export interface ControlledTenant {
  readonly id: string;
  /** What devices of the tenant say in `tenant_token`; undefined when they say nothing. */
  readonly tenantToken: string | undefined;
  readonly admin: TargetAdmin;
  /** The powers over this tenant alone, where the target's time and limits are the tenant's own. */
  readonly control: Control;
  /** Removes the tenant and all that belongs to it. */
  remove(): Promise<void>;
}

/** Powers over one target, or over one tenant of it. Each throws a ControlFailure in vain. */
export interface Control {
  /** The powers that there are. */
  readonly offers: ReadonlySet<Capability>;
  /**
   * Whether each tenant has time, faults and limits of its own, so that a case in a tenant of its
   * own disturbs no other. Without, cases that need control have to be played alone.
   */
  readonly isolates: boolean;
  /** The same powers; what is asked for is recorded on that line. */
  on(session: Session): Control;
  /** Makes a tenant with a user and without devices. Takes `tenant-control`. */
  newTenant(order: TenantOrder): Promise<ControlledTenant>;
  /** Locks the users and devices of the tenant out. Takes `tenant-control`. */
  suspend(): Promise<void>;
  /** Lets the target's time jump ahead. Takes `clock-control`. */
  advance(seconds: number): Promise<void>;
  /** Lets the next request of each of the operations meet a fault inside. Takes `fault-control`. */
  failNext(operations: readonly (OperationId | ManagementId)[]): Promise<void>;
  /** Limits how often each caller may ask from now on; undefined ends it. Takes `rate-control`. */
  limitRate(limit: RateLimit | undefined): Promise<void>;
  /** The token of a new user who may do nothing that takes a permission. Takes `role-control`. */
  powerlessUser(order: TenantOrder): Promise<string>;
}

/** The control of the target did not do what the suite asked of it. */
export class ControlFailure extends Error {
  constructor(wish: string, answer: string) {
    super(`control of the target failed to ${wish}: it answered ${answer}`);
    this.name = 'ControlFailure';
  }
}
