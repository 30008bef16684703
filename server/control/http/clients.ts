/** Handlers that show what a client judge says about the devices of a tenant. */
import type { Clock } from '../../../fixtures/base/clock.ts';
import type { ClientFeed } from '../../client-feed/client-feed.ts';
import { clientsView, clientView, JUDGING_MAX_MS, unknownClient } from '../sources/clients.ts';
import type { Handlers } from './mount.ts';
import { throwRefusal } from './refusals.ts';

/** Creates the handlers of the endpoints about device clients. */
export function clientHandlers(feed: ClientFeed | undefined, clock: Clock) {
  return {
    'GET /clients': async ({ tenant }) => clientsView(feed ?? notJudged(), tenant),
    'GET /clients/{device}': async ({ tenant, parameters: { device: named } }) => {
      const clientQuery = { named, nowMs: clock.monotonicMs(), limitMs: JUDGING_MAX_MS };
      const view = await clientView(feed ?? notJudged(), tenant, clientQuery);
      return view ?? throwRefusal(404, `path: device: ${unknownClient(tenant, named)}`);
    },
  } satisfies Partial<Handlers>;
}

function notJudged(): never {
  return throwRefusal(
    409,
    'this server judges no clients; start it without --no-judge, and with --journal-entries above 0',
  );
}
