/** Planned faults: a plan taken or refused whole, what has become of its rules, and their end. */
import type { Express } from 'express';
import { controlPaths } from '../../../fixtures/control-listener.ts';
import type { Tenants } from '../../tenants/tenants.ts';
import { mount, refuse, tenantNamed } from './answers.ts';

/** Mounts the paths of faults. What reads plans is loaded when asked for: a server starts faster without. */
export function mountFaults(app: Express, tenants: Tenants): void {
  mount(app, controlPaths.faults, {
    get: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (tenant) response.json({ rules: tenant.faults.list() });
    },
    post: async (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (!tenant) return;
      const { addPlan } = await import('../commands/faults.ts');
      const outcome = addPlan(tenant.faults, String(request.body ?? ''));
      if ('added' in outcome) response.status(201).json(outcome);
      else response.status(400).json({ ...outcome, error: `plan: ${outcome.error}` });
    },
    delete: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (!tenant) return;
      const { id } = request.query;
      const cleared = tenant.faults.clear(id === undefined ? undefined : String(id));
      if (id !== undefined && cleared === 0) {
        refuse(response, 404, 'there is no rule with this id; GET /faults lists them');
      } else response.json({ cleared });
    },
  });
  mount(app, `${controlPaths.faults}/check`, {
    get: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (!tenant) return;
      const unfired = tenant.faults.unfired();
      const error = 'some planned faults have not fired';
      if (unfired.length > 0) response.status(409).json({ error, unfired });
      else response.json({ unfired });
    },
  });
  mount(app, `${controlPaths.faults}/schema`, {
    get: async (_, response) => {
      const { planSchema } = await import('../faults/plan-text.ts');
      response.json(planSchema());
    },
  });
}
