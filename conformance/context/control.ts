/**
 * Control over a target that only testbeds offer. A case that uses a method of `Control` lists the
 * matching capability in its needs: `clock-control` for `advance`, and so on.
 */
import type { RateLimit } from '../../fixtures/base/option-row.ts';
import type { ManagementId } from '../../fixtures/contract/management/index.ts';
import type { OperationId } from '../../fixtures/contract/operations.ts';
import type { MaskSecret } from '../target/mask.ts';
import type { TargetClient } from '../target/target.ts';
import type { Capability } from './capabilities.ts';
import type { TargetAdmin } from './target-admin.ts';

/** Input for the creation of a tenant. */
export interface TenantOrder {
  /** The client that records the exchanges of the tenant's user. */
  readonly client: TargetClient;
  /** A name that only this run uses. */
  readonly name: string;
  readonly maskSecret: MaskSecret;
}

/** A tenant created for one case. */
export interface ControlledTenant {
  readonly id: string;
  /** The `tenant_token` of the tenant's devices; undefined if they send none. */
  readonly tenantToken: string | undefined;
  readonly admin: TargetAdmin;
  /** Control over this tenant only, if each tenant has its own time and limits. */
  readonly control: Control;
  /** Removes the tenant and everything that belongs to it. */
  remove(): Promise<void>;
}

/**
 * Control over one target, or over one tenant of it. Each method throws a ControlFailure when it
 * fails.
 */
export interface Control {
  /** The control capabilities that the target has. */
  readonly offers: ReadonlySet<Capability>;
  /**
   * True when each tenant has its own time, faults and limits, so that a case in its own tenant
   * does not disturb others. Otherwise cases that need control run alone.
   */
  readonly isolates: boolean;
  /** Returns the same control, with its requests recorded by the given client. */
  on(client: TargetClient): Control;
  /** Creates a tenant with a user and without devices. Needs `tenant-control`. */
  newTenant(order: TenantOrder): Promise<ControlledTenant>;
  /** Locks out the users and devices of the tenant. Needs `tenant-control`. */
  suspend(): Promise<void>;
  /** Advances the target's time. Needs `clock-control`. */
  advance(seconds: number): Promise<void>;
  /**
   * Makes the next request of each of the operations fail inside the server. Needs `fault-control`.
   */
  failNext(operations: readonly (OperationId | ManagementId)[]): Promise<void>;
  /**
   * Limits the rate of each caller from now on; undefined removes the limit. Needs `rate-control`.
   */
  limitRate(limit: RateLimit | undefined): Promise<void>;
  /** Returns the token of a new user without any permission. Needs `role-control`. */
  powerlessUser(order: TenantOrder): Promise<string>;
}

/** The target's control did not do what the suite requested. */
export class ControlFailure extends Error {
  constructor(action: string, response: string) {
    super(`the control listener failed to ${action}: it answered with ${response}`);
    this.name = 'ControlFailure';
  }
}
