/** Returns the caller's tenant, and the token with which devices join it. */
import type { TenantDescription } from '../../../fixtures/contract/management/tenants.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { accessOf } from '../../tenants/access.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { iso } from './views.ts';

/** Includes the tenant token only if the caller may also read it in version 2. */
export const getOwnTenantV1 = defineEndpoint('get-own-tenant-v1', (_, { tenant, store, user }) => {
  const storedUser = store.users.find(user.id);
  const mayRead =
    storedUser && accessOf(store, storedUser, 'get-tenant-token').decision === 'allow';
  return {
    status: 200,
    body: { ...tenantView(tenant), ...(mayRead && { tenant_token: tenant.token }) },
  };
});

export const getOwnTenant = defineEndpoint('get-own-tenant', (_, { tenant }) => {
  return { status: 200, body: tenantView(tenant) };
});

export const getTenantToken = defineEndpoint('get-tenant-token', (_, { tenant }) => {
  return { status: 200, body: { tenant_token: tenant.token } };
});

function tenantView({ id, name, status, createdMs }: Tenant): TenantDescription {
  return {
    id,
    name,
    status,
    plan: 'enterprise',
    trial: false,
    addons: ['configure', 'monitor', 'troubleshoot'].map((addon) => ({
      name: addon,
      enabled: true,
    })),
    created_at: iso(createdMs),
  };
}
