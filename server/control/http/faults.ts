/** Planned faults: a plan taken or refused whole, what has become of its rules, and their end. */
import type { Express } from 'express';
import { controlPaths } from '../../../fixtures/control-listener.ts';
import type { Tenants } from '../../tenants/tenants.ts';
import type { FaultPlans } from '../faults/fault-plans.ts';
import { RULES_MAX } from '../faults/rule.ts';
import { mount, refuse, tenantNamed } from './answers.ts';

/** Mounts the paths of faults; a plan is read as text. */
export function mountFaults(app: Express, tenants: Tenants): void {
  mount(app, controlPaths.faults, {
    get: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (tenant) response.json({ rules: tenant.faults.list() });
    },
    post: async (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (!tenant) return;
      const outcome = await addPlan(tenant.faults, String(request.body ?? ''));
      response.status('added' in outcome ? 201 : 400).json(outcome);
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
    get: async (_, response) => response.json((await planText()).planSchema()),
  });
}

/** Adds the rules of a plan, all or none; the ids, or what is wrong with its places. */
async function addPlan(faults: FaultPlans, text: string) {
  const { readPlan, told } = await planText();
  const read = readPlan(text, (id) => faults.has(id));
  if ('faults' in read) {
    return { error: `plan: ${read.faults.map(told).join('; ')}`, faults: read.faults };
  }
  if (faults.size + read.rules.length > RULES_MAX) {
    return { error: `plan: at most ${RULES_MAX} rules are possible; remove some first` };
  }
  faults.add(read.rules);
  return { added: read.rules.map(({ id }) => id) };
}

/** What reads plans; loaded only when asked for, since a server starts faster without. */
function planText() {
  return import('../faults/plan-text.ts');
}
