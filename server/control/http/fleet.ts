/** The fleet of a tenant: in one look, as a list of all devices, and what happens to it. */
import type { Express } from 'express';
import * as v from 'valibot';
import { queryInteger } from '../../../fixtures/contract/text.ts';
import type { Tenants } from '../../tenants/tenants.ts';
import { legalVariations } from '../../variation/variations.ts';
import type { Watchdog } from '../../watchdog.ts';
import { handlersWithin, mount, namedTenant, ofTenant, refuse, taking } from './answers.ts';
import type { EventStreams } from './event-stream.ts';
import { sendListing } from './listing.ts';
import { type ControlSource, type Overview, overviewMax } from './source.ts';

interface FleetOptions {
  readonly source: ControlSource;
  readonly tenants: Tenants;
  readonly watchdog: Watchdog;
  /** The seed of the legal variation, where it is on. */
  readonly variationSeed?: string | undefined;
}

const devicesShape = v.optional(queryInteger(0, overviewMax.devices), String(overviewMax.devices));

/** Mounts the paths. */
export function mountFleet(app: Express, options: FleetOptions, streams: EventStreams): void {
  const { source, tenants, watchdog, variationSeed } = options;
  const within = handlersWithin(tenants);
  mount(app, '/overview', {
    get: within(
      async (tenant, { query }) => {
        const most = v.safeParse(devicesShape, query.devices);
        if (!most.success) refuse(400, `query: devices: ${most.issues[0].message}`);
        const overview = await source.overview(tenant, most.output);
        return { ...bounded(overview), stalls: watchdog.stalls };
      },
      ['devices'],
    ),
  });
  mount(app, '/devices', {
    get: within((tenant, _, response) =>
      sendListing(response, {}, { devices: source.devices(tenant) }),
    ),
  });
  mount(app, '/events', {
    get: taking(ofTenant, (request, response) => {
      if (request.method === 'HEAD') refuse(405, 'the event stream supports only GET');
      const tenant = namedTenant(tenants, request.query);
      streams.requireRoom();
      streams.open(response, streams.activityOf(tenant?.id));
    }),
  });
  mount(app, '/variations', {
    get: () => ({
      seed: variationSeed ?? null,
      variations: legalVariations.map(({ id, varies, rule }) => ({ id, varies, rule })),
    }),
  });
}

function bounded(overview: Overview): Overview {
  return {
    ...overview,
    devices: overview.devices.slice(0, overviewMax.devices),
    deployments: overview.deployments.slice(0, overviewMax.deployments),
  };
}
