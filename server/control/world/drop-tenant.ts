/** Dropping a tenant: whoever knocks is a stranger at once, then everything in it goes. */
import { systemClock } from '../../../fixtures/clock.ts';
import type { Services } from '../../pipeline/services.ts';
import type { Tenant } from '../../tenants/tenants.ts';

/**
 * Drops a tenant that is not the first: its tokens, devices and users are unknown from now on, its
 * sockets are closed, and then its store is, with its folder and mail. Resolves when all is gone;
 * does nothing to one that was dropped already.
 */
export async function dropTenant(
  { tenants, sockets, outbox }: Pick<Services, 'tenants' | 'sockets' | 'outbox'>,
  tenant: Tenant,
): Promise<void> {
  if (!tenants.forget(tenant)) return;
  await sockets.closeTenant(tenant.store);
  // What waited for a socket goes on now, and writes into the audit log: the store goes last.
  await systemClock.sleep(0);
  outbox.forget(tenant.id);
  tenants.remove(tenant);
}
