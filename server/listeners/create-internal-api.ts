/**
 * Serves the API for requests that another listener of this server received and admitted. It has no
 * socket, observers or injected faults, so that watching does not change what is watched.
 */
import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import { openExchange } from '../http/exchange.ts';
import type { Routes } from '../pipeline/routes.ts';
import { opensSocket, responseOn, routeExchanges } from './api-listener.ts';
import type { InternalApi } from './internal-api.ts';

interface InternalApiOptions {
  readonly routes: Routes;
  readonly headerNames: VendorNames;
  readonly newRequestId: () => string;
}

/** Creates an internal API over these routes. */
export function createInternalApi(options: InternalApiOptions): InternalApi {
  const route = routeExchanges(options.routes);
  return {
    pass: (request, response) => route(openExchange(request, response, options)),
    opensSocket: (request) => opensSocket(options.routes, request),
    upgrade: (request, socket, head) => {
      const response = responseOn(request, socket as Socket, ServerResponse);
      route({ ...openExchange(request, response, options), upgrade: { socket, head } });
    },
  };
}
