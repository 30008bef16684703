/** The time of a tenant: read, set, moved, run at another pace, and given back. */
import type { Express } from 'express';
import { controlPaths } from '../../../fixtures/control-listener.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { clockCommandShape, steerClock } from '../commands/clock.ts';
import { mount, readBody, refuse, tenantNamed } from './answers.ts';

/** Mounts the path of the clock. */
export function mountClock(app: Express, tenants: Tenants): void {
  mount(app, controlPaths.clock, {
    get: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (tenant) response.json(view(tenant));
    },
    post: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      const command = tenant && readBody(clockCommandShape, request, response);
      if (!command) return;
      const fault = steerClock(tenant.clock, command);
      if (fault !== undefined) {
        refuse(response, 409, `body: ${fault}`);
        return;
      }
      response.json(view(tenant));
    },
    delete: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (!tenant) return;
      tenant.clock.reset();
      response.json(view(tenant));
    },
  });
}

function view({ clock }: Tenant) {
  const { mode, nowMs, offsetMs, rate } = clock.state;
  return { now: new Date(nowMs).toISOString(), mode, offsetSeconds: offsetMs / 1000, rate };
}
