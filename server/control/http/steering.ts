/**
 * What a test steers over HTTP: the clock, planned faults and the rate limit of a tenant, and the
 * outbox. The commands are the same as those of `embedding/steering.ts`.
 */

import type { Express } from 'express';
import * as v from 'valibot';
import { controlPaths } from '../../../fixtures/control-listener.ts';
import { faultPlansOf } from '../../faults/tenant-faults.ts';
import type { Outbox } from '../../tenants/outbox.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { clockCommandShape, steerClock } from '../commands/clock.ts';
import { setRateLimit } from '../commands/rate-limit.ts';
import { handlersWithin, mount, ofTenant, readBody, refuse, taking } from './answers.ts';

const limitShape = v.strictObject(
  { requests: v.number('must be a number'), windowSeconds: v.number('must be a number') },
  ({ expected }) =>
    expected === 'never' ? 'is unknown; the fields are requests and windowSeconds' : 'is required',
);

/** Mounts the paths. What reads plans is loaded on first use: a server starts faster without it. */
export function mountSteering(app: Express, tenants: Tenants, outbox: Outbox): void {
  const within = handlersWithin(tenants);
  mount(app, controlPaths.clock, {
    get: within(clockView),
    post: within((tenant, request) => {
      const fault = steerClock(tenant.clock, readBody(clockCommandShape, request));
      if (fault !== undefined) refuse(409, `body: ${fault}`);
      return clockView(tenant);
    }),
    delete: within((tenant) => {
      tenant.clock.reset();
      return clockView(tenant);
    }),
  });
  mount(app, controlPaths.faults, {
    get: within((tenant) => ({ rules: faultPlansOf(tenant).list() })),
    post: within(async (tenant, request, response) => {
      const { addPlan } = await import('../commands/faults.ts');
      const outcome = addPlan(faultPlansOf(tenant), String(request.body ?? ''));
      if ('error' in outcome) {
        const { error, ...places } = outcome;
        refuse(400, `plan: ${error}`, places);
      }
      response.status(201);
      return outcome;
    }),
    delete: within(
      (tenant, { query: { id } }) => {
        const cleared = faultPlansOf(tenant).clear(id === undefined ? undefined : String(id));
        if (id === undefined || cleared > 0) return { cleared };
        refuse(404, 'there is no rule with this id; GET /faults lists them');
      },
      ['id'],
    ),
  });
  mount(app, `${controlPaths.faults}/check`, {
    get: within((tenant) => {
      const unfired = faultPlansOf(tenant).unfired();
      if (unfired.length > 0) refuse(409, 'some planned faults have not fired', { unfired });
      return { unfired };
    }),
  });
  mount(app, `${controlPaths.faults}/schema`, {
    get: taking(ofTenant, async () => (await import('../../faults/plan-text.ts')).planSchema()),
  });
  mount(app, controlPaths.rateLimit, {
    get: within(limitView),
    post: within((tenant, request) => {
      const fault = setRateLimit(tenant.rates, readBody(limitShape, request));
      if (fault !== undefined) refuse(400, `body: ${fault}`);
      return limitView(tenant);
    }),
    delete: within((tenant) => {
      setRateLimit(tenant.rates, undefined);
      return limitView(tenant);
    }),
  });
  mount(app, controlPaths.outbox, {
    get: () => ({
      messages: outbox.list().map(mailView),
      alerts: outbox.alerts().map(mailView),
      dropped: outbox.dropped,
    }),
    delete: () => outbox.clear(),
  });
}

function clockView({ clock }: Tenant) {
  const { mode, nowMs, offsetMs, rate } = clock.state;
  return { now: new Date(nowMs).toISOString(), mode, offsetSeconds: offsetMs / 1000, rate };
}

/** `limit` is null while requests are not limited. */
function limitView({ rates }: Tenant) {
  return { limit: rates.limit ?? null };
}

/** With the moments in ISO 8601; alerts do not expire. */
function mailView<Mail extends { readonly createdMs: number; readonly expiresMs?: number }>({
  createdMs,
  expiresMs,
  ...mail
}: Mail) {
  const createdAt = new Date(createdMs).toISOString();
  if (expiresMs === undefined) return { ...mail, createdAt };
  return { ...mail, createdAt, expiresAt: new Date(expiresMs).toISOString() };
}
