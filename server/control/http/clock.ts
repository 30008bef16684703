/** The time of a tenant: read, set, moved, run at another pace, and given back. */
import type { Express } from 'express';
import * as v from 'valibot';
import { isTimestamp, timestampMs } from '../../../fixtures/contract/text.ts';
import { controlPaths } from '../../../fixtures/control-listener.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { mount, readBody, refuse, tenantNamed } from './answers.ts';

/** Ten years; the calendar ends within one. */
const ADVANCE_MAX_SECONDS = 3650 * 86_400;
const RATE_MAX = 10_000;

const momentShape = v.pipe(
  v.string('must be a string'),
  v.check(isTimestamp, 'must be a date-time such as 2027-08-25T00:00:00Z'),
  v.transform(timestampMs),
);

const commandShape = v.pipe(
  v.strictObject(
    {
      now: v.optional(momentShape),
      until: v.optional(momentShape),
      advanceSeconds: v.optional(
        v.pipe(
          v.number('must be a number'),
          v.minValue(0, 'must not be negative; use "now" to set the clock back'),
          v.maxValue(ADVANCE_MAX_SECONDS, `must be at most ${ADVANCE_MAX_SECONDS}`),
        ),
      ),
      rate: v.optional(
        v.pipe(
          v.number('must be a number'),
          v.minValue(0, 'must be 0 (frozen) or more'),
          v.maxValue(RATE_MAX, `must be at most ${RATE_MAX}`),
        ),
      ),
    },
    ({ expected }) =>
      expected === 'never'
        ? 'is unknown; the fields are now, until, advanceSeconds and rate'
        : 'must be an object',
  ),
  v.check(({ now, until, advanceSeconds, rate }) => {
    const moves = [now, until, advanceSeconds].filter((given) => given !== undefined);
    return moves.length === 1 || (moves.length === 0 && rate !== undefined);
  }, 'give one of now, until and advanceSeconds, or rate alone'),
);

/** Mounts the path of the clock. */
export function mountClock(app: Express, tenants: Tenants): void {
  mount(app, controlPaths.clock, {
    get: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      if (tenant) response.json(view(tenant));
    },
    post: (request, response) => {
      const tenant = tenantNamed(tenants, request, response);
      const command = tenant && readBody(commandShape, request, response);
      if (!command) return;
      const { now, until, advanceSeconds, rate } = command;
      const { clock } = tenant;
      if (until !== undefined && until < clock.now()) {
        refuse(response, 409, 'body: until: is in the past; use "now" to set the clock back');
        return;
      }
      const moment = now ?? until;
      if (moment !== undefined) clock.set(moment);
      if (advanceSeconds !== undefined) clock.advance(advanceSeconds * 1000);
      if (rate !== undefined) clock.scale(rate);
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
