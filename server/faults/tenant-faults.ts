/**
 * Stores the planned faults of each tenant, so that the rest of the server does not depend on them.
 */
import type { Tenant } from '../tenants/tenants.ts';
import { FaultPlans } from './fault-plans.ts';

const plans = new WeakMap<Tenant, FaultPlans>();

/** Returns the plans of a tenant, empty at first. */
export function faultPlansOf(tenant: Tenant): FaultPlans {
  const faultPlans = plans.get(tenant);
  if (faultPlans) return faultPlans;
  const empty = new FaultPlans();
  plans.set(tenant, empty);
  return empty;
}
