/** Handlers for the fleet of a tenant: an overview, a list of all devices, and an event stream. */
import type { Variation } from '../../variation/variation.ts';
import { variationRows } from '../../variation/variations.ts';
import type { Watchdog } from '../../watchdog.ts';
import { type ControlSource, overviewMax } from '../sources/source.ts';
import type { EventStreams } from './event-stream.ts';
import { listing } from './listing.ts';
import type { Handlers } from './mount.ts';

interface FleetOptions {
  readonly source: ControlSource;
  readonly watchdog: Watchdog;
  readonly variation: Variation;
}

/** Creates the handlers for the fleet of a tenant. */
export function fleetHandlers(
  { source, watchdog, variation }: FleetOptions,
  streams: EventStreams,
) {
  return {
    'GET /overview': async ({ tenant, query }) => {
      const overview = await source.overview(tenant, query.devices);
      return {
        ...overview,
        devices: overview.devices.slice(0, overviewMax.devices),
        deployments: overview.deployments.slice(0, overviewMax.deployments),
        stalls: watchdog.stalls,
      };
    },
    'GET /request-counts': ({ tenant, query }) => source.requestCounts(tenant, query.seconds),
    'GET /devices': ({ tenant }) => listing({}, { devices: source.devices(tenant) }),
    'GET /events': ({ namedTenant, response }) =>
      streams.open(response, streams.activityOf(namedTenant?.id)),
    'GET /variations': () => variationsView(variation),
    'PUT /variations': ({ body }) => {
      variation.choose(new Set(body.variations));
      return variationsView(variation);
    },
    'DELETE /variations': () => {
      variation.choose(undefined);
      return variationsView(variation);
    },
  } satisfies Partial<Handlers>;
}

function variationsView(variation: Variation) {
  return {
    seed: variation.seed ?? null,
    variations: variationRows.map(({ id, varies, rule }) => ({
      id,
      varies,
      rule,
      isOn: variation.has(id),
    })),
  };
}
