/**
 * Stores the planned faults of each tenant, so that the rest of the server does not depend on them.
 */
import type { Tenant } from '../tenants/tenants.ts';
import { FaultPlans } from './fault-plans.ts';

const plans = new WeakMap<Tenant, FaultPlans>();

/** Returns the plans of a tenant, empty at first. */
export function faultPlansOf(tenant: Tenant): FaultPlans {
  const known = plans.get(tenant);
  if (known) return known;
  const empty = new FaultPlans();
  plans.set(tenant, empty);
  return empty;
}
