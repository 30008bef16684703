/**
 * Handlers that create tenants with a first admin, and list, suspend, resume, limit and remove
 * them.
 */
import { knownNames } from '../../../fixtures/base/nearest.ts';
import type { BodyOf } from '../../../fixtures/control/operations.ts';
import {
  type AddedTenant,
  type NewAdmin,
  TENANTS_MAX,
  type Tenant,
  type TenantProblem,
  type Tenants,
} from '../../tenants/tenants.ts';
import type { TenantStates } from '../../world/tenant-states.ts';
import type { Handlers } from './mount.ts';
import { throwRefusal } from './refusals.ts';

const refusals = {
  'name taken': {
    status: 409,
    error: 'body: name: is used by another tenant; GET /tenants lists all tenants',
  },
  'email taken': {
    status: 409,
    error: 'body: adminEmail: is already in use in this or another tenant; choose another address',
  },
  'too many tenants': {
    status: 422,
    error: `the server already has ${TENANTS_MAX} tenants, the maximum; remove one first`,
  },
} as const;

/** Creates the handlers for tenants. */
export function tenantHandlers(tenants: Tenants, states: TenantStates) {
  const requireTenant = ({ id }: { readonly id: string }): Tenant => {
    const names = tenants.list().map((tenant) => `${tenant.name} (${tenant.id})`);
    const nearest = knownNames('tenant', id, names);
    return tenants.find(id) ?? throwRefusal(404, `no tenant has this ID; ${nearest}`);
  };
  return {
    'GET /tenants': () => tenants.list().map(view),
    'POST /tenants': async ({ body }) => {
      const { name, admin } = newTenantOf(body);
      return addedView(await states.add(name, admin));
    },
    'DELETE /tenants': async () => (await states.dropOthers()).map(view),
    'DELETE /tenants/{id}': async ({ parameters }) => {
      const tenant = requireTenant(parameters);
      if (tenant.isFirst)
        throwRefusal(409, 'the first tenant cannot be removed; use POST /reset to clear it');
      await states.drop(tenant);
      return view(tenant);
    },
    'PUT /tenants/{id}/status': ({ parameters, body: { status } }) => {
      const tenant = requireTenant(parameters);
      tenant.status = status;
      return view(tenant);
    },
    'PUT /tenants/{id}/device-limit': ({ parameters, body: { limit } }) => {
      const tenant = requireTenant(parameters);
      tenant.store.tenantSettings.setDeviceLimit(limit);
      return view(tenant);
    },
  } satisfies Partial<Handlers>;
}

/** Returns the name and the admin of a new tenant from a request body. */
export function newTenantOf({
  name,
  adminEmail: email,
  adminPassword: password,
}: BodyOf<'POST /tenants'>): { name: string; admin: NewAdmin } {
  return { name, admin: { email, password } };
}

/** Returns the view of a new tenant and its admin. Refuses if it was not created. */
export function addedView(added: AddedTenant | TenantProblem) {
  if (typeof added === 'string') throwRefusal(refusals[added].status, refusals[added].error);
  const { email: adminEmail, password: adminPassword } = added.admin;
  return { ...view(added.tenant), adminEmail, adminPassword };
}

function view({ id, name, status, token, createdMs }: Tenant) {
  return { id, name, status, tenantToken: token, createdAt: new Date(createdMs).toISOString() };
}
