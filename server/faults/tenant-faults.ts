/** Each tenant's planned faults; the rest of the server does not depend on them. */
import type { Tenant } from '../tenants/tenants.ts';
import { FaultPlans } from './fault-plans.ts';

const plans = new WeakMap<Tenant, FaultPlans>();

/** The plans of a tenant; none is armed at first. */
export function faultPlansOf(tenant: Tenant): FaultPlans {
  const known = plans.get(tenant);
  if (known) return known;
  const empty = new FaultPlans();
  plans.set(tenant, empty);
  return empty;
}
