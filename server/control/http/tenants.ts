/** Tenants, as a test sets them up: made with their first admin, listed, suspended, let in again, and dropped. */
import type { Express, Response } from 'express';
import * as v from 'valibot';
import { limits } from '../../../fixtures/contract/limits.ts';
import { emailShape } from '../../../fixtures/contract/management/email.ts';
import { controlPaths } from '../../../fixtures/control-listener.ts';
import {
  type AddedTenant,
  TENANTS_MAX,
  type Tenant,
  type TenantFault,
  type Tenants,
  tenantStatuses,
} from '../../tenants/tenants.ts';
import type { TenantStates } from '../world/tenant-states.ts';
import { type Handler, mount, readBody, refuse } from './answers.ts';

/** What a new tenant is made of. */
export const newTenantShape = v.object({
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

/** How many devices the tenant may accept; -1 is as many as there are. */
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

const unknownTenant = 'there is no tenant with this id; GET /tenants lists them';

/** Mounts the paths of tenants. */
export function mountTenants(app: Express, tenants: Tenants, states: TenantStates): void {
  mount(app, controlPaths.tenants, {
    get: (_, response) => response.json(tenants.list().map(view)),
    post: async (request, response) => {
      const given = readBody(newTenantShape, request, response);
      if (!given) return;
      const added = await states.add(given.name, {
        email: given.adminEmail,
        password: given.adminPassword,
      });
      answerAdded(response, added);
    },
    delete: async (_, response) => {
      response.json((await states.dropOthers()).map(view));
    },
  });
  mount(app, controlPaths.tenant, {
    delete: async (request, response) => {
      const tenant = tenants.find(String(request.params.id));
      if (!tenant) refuse(response, 404, unknownTenant);
      else if (tenant.isFirst) {
        refuse(response, 409, 'the first tenant cannot be removed; POST /reset empties it');
      } else {
        await states.drop(tenant);
        response.json(view(tenant));
      }
    },
  });
  mount(app, controlPaths.tenantStatus, {
    put: settingOf(tenants, statusShape, (tenant, { status }) => {
      tenant.status = status;
    }),
  });
  mount(app, `${controlPaths.tenant}/device-limit`, {
    put: settingOf(tenants, deviceLimitShape, ({ store }, { limit }) => {
      store.tenantSettings.setDeviceLimit(limit);
    }),
  });
}

/** Answers with a new tenant and its admin, or why there is none. */
export function answerAdded(response: Response, added: AddedTenant | TenantFault): void {
  if (typeof added === 'string') {
    refuse(response, refusals[added].status, refusals[added].error);
    return;
  }
  const { email: adminEmail, password: adminPassword } = added.admin;
  response.status(201).json({ ...view(added.tenant), adminEmail, adminPassword });
}

/** Changes a tenant by a checked body, and answers with the tenant. */
function settingOf<const Shape extends v.GenericSchema>(
  tenants: Tenants,
  shape: Shape,
  change: (tenant: Tenant, given: v.InferOutput<Shape>) => void,
): Handler {
  return (request, response) => {
    const given = readBody(shape, request, response);
    const tenant = tenants.find(String(request.params.id));
    if (!given) return;
    if (!tenant) refuse(response, 404, unknownTenant);
    else {
      change(tenant, given);
      response.json(view(tenant));
    }
  };
}

function view({ id, name, status, token, createdMs }: Tenant) {
  return { id, name, status, tenantToken: token, createdAt: new Date(createdMs).toISOString() };
}
