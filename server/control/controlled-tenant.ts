/** A tenant with its test powers, which the rest of the server knows nothing of. */
import type { Tenant } from '../tenants/tenants.ts';
import { FaultPlans } from './faults/fault-plans.ts';
import { Journal, type JournalBounds } from './journal/journal.ts';

/** The test powers of a tenant, from its creation to its end. */
interface TestPowers {
  readonly journal: Journal;
  /** What goes wrong on purpose. */
  readonly faults: FaultPlans;
}

export type ControlledTenant = Tenant & TestPowers;

/** Gives every tenant that is made an empty journal within the bounds, and no planned fault. */
export function equipTenants(bounds: JournalBounds): (tenant: Tenant) => void {
  return (tenant) => {
    Object.assign(tenant, {
      journal: new Journal(bounds),
      faults: new FaultPlans(),
    } satisfies TestPowers);
  };
}

/** The tenant with its powers. @throws TypeError for one that was made without them */
export function controlled(tenant: Tenant): ControlledTenant {
  if (!isControlled(tenant)) throw new TypeError(`tenant ${tenant.name} has no test powers`);
  return tenant;
}

function isControlled(tenant: Tenant): tenant is ControlledTenant {
  return 'journal' in tenant && 'faults' in tenant;
}
