/**
 * Handlers with which tests control the clock, planned faults and rate limit of a tenant, and the
 * outbox, over HTTP. `embedding/clock-and-faults.ts` offers the same commands in the process.
 */
import { knownNames } from '../../../fixtures/base/nearest.ts';
import { faultPlansOf } from '../../faults/tenant-faults.ts';
import type { Outbox } from '../../tenants/outbox.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { applyClockCommand } from '../commands/clock.ts';
import { setRateLimit } from '../commands/rate-limit.ts';
import type { Handlers } from './mount.ts';
import { throwRefusal } from './refusals.ts';

/**
 * Creates the handlers. The reader of fault plans is loaded on first use, so that the server starts
 * faster.
 */
export function tenantControlHandlers(outbox: Outbox) {
  return {
    'GET /clock': ({ tenant }) => clockView(tenant),
    'POST /clock': ({ tenant, body }) => {
      const problem = applyClockCommand(tenant.clock, body);
      if (problem !== undefined) throwRefusal(409, `body: ${problem}`);
      return clockView(tenant);
    },
    'DELETE /clock': ({ tenant }) => {
      tenant.clock.reset();
      return clockView(tenant);
    },
    'GET /rate-limit': ({ tenant }) => limitView(tenant),
    'POST /rate-limit': ({ tenant, body }) => {
      const problem = setRateLimit(tenant.rates, body);
      if (problem !== undefined) throwRefusal(400, `body: ${problem}`);
      return limitView(tenant);
    },
    'DELETE /rate-limit': ({ tenant }) => {
      setRateLimit(tenant.rates, undefined);
      return limitView(tenant);
    },
    'GET /faults': ({ tenant }) => ({ rules: faultPlansOf(tenant).list() }),
    'POST /faults': async ({ tenant, body }) => {
      const { addPlan } = await import('../commands/faults.ts');
      const outcome = addPlan(faultPlansOf(tenant), body);
      if (!('error' in outcome)) return outcome;
      const { error, ...details } = outcome;
      return throwRefusal(400, `plan: ${error}`, details);
    },
    'DELETE /faults': ({ tenant, query: { id } }) => {
      const cleared = faultPlansOf(tenant).clear(id);
      if (id === undefined || cleared > 0) return { cleared };
      const ids = faultPlansOf(tenant)
        .list()
        .map((rule) => rule.id);
      return throwRefusal(404, `no rule has this ID; ${knownNames('rule', id, ids)}`);
    },
    'GET /faults/check': ({ tenant }) => {
      const plans = faultPlansOf(tenant);
      const counts = { rules: plans.size, unfired: plans.unfired() };
      if (counts.unfired.length > 0)
        throwRefusal(409, 'some planned faults have not fired', counts);
      return counts;
    },
    'GET /faults/schema': async () => (await import('../../faults/plan-text.ts')).planSchema(),
    'GET /outbox': () => ({
      messages: outbox.list().map(({ expiresMs, ...message }) => ({
        ...mailView(message),
        expiresAt: new Date(expiresMs).toISOString(),
      })),
      alerts: outbox.alerts().map(mailView),
      dropped: outbox.dropped,
    }),
    'DELETE /outbox': () => outbox.clear(),
  } satisfies Partial<Handlers>;
}

function clockView({ clock }: Tenant) {
  const { mode, nowMs, offsetMs, rate } = clock.state;
  return { now: new Date(nowMs).toISOString(), mode, offsetSeconds: offsetMs / 1000, rate };
}

function limitView({ rates }: Tenant) {
  return { limit: rates.limit ?? null };
}

function mailView<Mail extends { readonly createdMs: number }>({ createdMs, ...mail }: Mail) {
  return { ...mail, createdAt: new Date(createdMs).toISOString() };
}
