/** How often the callers of a tenant may ask. */
import type { Express } from 'express';
import * as v from 'valibot';
import { controlPaths } from '../../../fixtures/control-listener.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { setRateLimit } from '../commands/rate-limit.ts';
import { mount, readBody, refuse, tenantNamed } from './answers.ts';

const limitShape = v.strictObject(
  { requests: v.number('must be a number'), windowSeconds: v.number('must be a number') },
  ({ expected }) =>
    expected === 'never' ? 'is unknown; the fields are requests and windowSeconds' : 'is required',
);

/** Mounts the path of the rate limit. */
export function mountRateLimit(app: Express, tenants: Tenants): void {
  mount(app, controlPaths.rateLimit, {
    get: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (tenant) response.json(view(tenant));
    },
    post: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      const limit = tenant && readBody(limitShape, request, response);
      if (!limit) return;
      const fault = setRateLimit(tenant.rates, limit);
      if (fault !== undefined) {
        refuse(response, 400, `body: ${fault}`);
        return;
      }
      response.json(view(tenant));
    },
    delete: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (!tenant) return;
      setRateLimit(tenant.rates, undefined);
      response.json(view(tenant));
    },
  });
}

/** `limit` is null while nobody is limited. */
function view({ rates }: Tenant) {
  return { limit: rates.limit ?? null };
}
