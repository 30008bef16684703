/** Tenants: created with their first admin, listed, suspended, resumed, limited and dropped. */
import type { Express, Request, Response } from 'express';
import * as v from 'valibot';
import { limits } from '../../../fixtures/contract/limits.ts';
import { emailShape } from '../../../fixtures/contract/management/email.ts';
import { controlPaths } from '../../../fixtures/control-listener.ts';
import {
  type AddedTenant,
  type GivenAdmin,
  TENANTS_MAX,
  type Tenant,
  type TenantFault,
  type Tenants,
  tenantStatuses,
} from '../../tenants/tenants.ts';
import type { TenantStates } from '../../world/tenant-states.ts';
import { mount, readBody, refuse } from './answers.ts';

const newTenantShape = v.object({
  name: v.pipe(
    v.string('must be a string'),
    v.nonEmpty('must not be empty'),
    v.maxLength(256, 'must have at most 256 characters'),
  ),
  adminEmail: emailShape,
  adminPassword: v.optional(
    v.pipe(
      v.string('must be a string'),
      v.minLength(8, 'must have at least 8 characters'),
      v.maxLength(256, 'must have at most 256 characters'),
    ),
  ),
});

const statusShape = v.object({
  status: v.picklist(tenantStatuses, `must be one of ${tenantStatuses.join(', ')}`),
});

/** How many devices the tenant may accept; -1 is no limit. */
const deviceLimitShape = v.object({
  limit: v.pipe(
    v.number('must be a number'),
    v.safeInteger('must be a whole number'),
    v.minValue(limits.deviceLimitNone, `must be at least ${limits.deviceLimitNone} (no limit)`),
  ),
});

const refusals = {
  'name taken': {
    status: 409,
    error: 'body: name: is used by another tenant; GET /tenants lists them',
  },
  'e-mail taken': {
    status: 409,
    error: 'body: adminEmail: is already in use in this or another tenant; choose another address',
  },
  'too many tenants': {
    status: 422,
    error: `the server already has ${TENANTS_MAX} tenants, the maximum; remove one first`,
  },
} as const;

/** Mounts the paths of tenants. */
export function mountTenants(app: Express, tenants: Tenants, states: TenantStates): void {
  const tenantIn = ({ params }: Request): Tenant =>
    tenants.find(String(params.id)) ??
    refuse(404, 'there is no tenant with this id; GET /tenants lists them');
  mount(app, controlPaths.tenants, {
    get: () => tenants.list().map(view),
    post: async (request, response) => {
      const { name, admin } = newTenantIn(request);
      return addedView(await states.add(name, admin), response);
    },
    delete: async () => (await states.dropOthers()).map(view),
  });
  mount(app, controlPaths.tenant, {
    delete: async (request) => {
      const tenant = tenantIn(request);
      if (tenant.isFirst) refuse(409, 'the first tenant cannot be removed; POST /reset empties it');
      await states.drop(tenant);
      return view(tenant);
    },
  });
  mount(app, controlPaths.tenantStatus, {
    put: (request) => {
      const { status } = readBody(statusShape, request);
      const tenant = tenantIn(request);
      tenant.status = status;
      return view(tenant);
    },
  });
  mount(app, `${controlPaths.tenant}/device-limit`, {
    put: (request) => {
      const { limit } = readBody(deviceLimitShape, request);
      const tenant = tenantIn(request);
      tenant.store.tenantSettings.setDeviceLimit(limit);
      return view(tenant);
    },
  });
}

/** The name and the admin of a new tenant, from the body. */
export function newTenantIn(request: Request): { name: string; admin: GivenAdmin } {
  const { name, adminEmail: email, adminPassword: password } = readBody(newTenantShape, request);
  return { name, admin: { email, password } };
}

/** Shows a new tenant and its admin, with 201; refuses where there is none. */
export function addedView(added: AddedTenant | TenantFault, response: Response): object {
  if (typeof added === 'string') refuse(refusals[added].status, refusals[added].error);
  const { email: adminEmail, password: adminPassword } = added.admin;
  response.status(201);
  return { ...view(added.tenant), adminEmail, adminPassword };
}

function view({ id, name, status, token, createdMs }: Tenant) {
  return { id, name, status, tenantToken: token, createdAt: new Date(createdMs).toISOString() };
}
