/** Stores the journal of each tenant, so that the rest of the server does not depend on it. */
import type { Tenant } from '../tenants/tenants.ts';
import { Journal, type JournalBounds } from './journal.ts';

const journals = new WeakMap<Tenant, Journal>();

/** Returns a function that gives a new tenant an empty journal with these limits. */
export function openJournals(bounds: JournalBounds): (tenant: Tenant) => void {
  return (tenant) => journals.set(tenant, new Journal(bounds));
}

/**
 * Returns the journal of a tenant.
 * @throws TypeError for a tenant that was created without one
 */
export function journalOf(tenant: Tenant): Journal {
  const journal = journals.get(tenant);
  if (!journal) throw new TypeError(`tenant ${tenant.name} has no journal`);
  return journal;
}
