/** What a handler sees of its request, beside the checked input. */
import type { IncomingMessage } from 'node:http';
import type { Services } from '../services.ts';
import type { Caller } from './callers.ts';
import type { Endpoint, RequestContext } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { originOf } from './links.ts';

/** An exchange on its way, with its caller once that is known. */
export interface Visit {
  readonly endpoint: Endpoint;
  readonly exchange: Exchange;
  readonly caller: Caller;
  /** The moment of the request, milliseconds since the Unix epoch. */
  readonly nowMs: number;
}

/** A class of plain fields: an object spread together for each request cost a third of a poll. */
export class HandlerContext implements RequestContext {
  readonly clock: Services['clock'];
  readonly random: Services['random'];
  readonly settings: Services['settings'];
  readonly names: Services['names'];
  readonly store: Services['store'];
  readonly tokens: Services['tokens'];
  readonly links: Services['links'];
  readonly sockets: Services['sockets'];
  readonly log: Services['log'];
  readonly device: Caller['device'];
  readonly user: Caller['user'];
  readonly requestId: string;
  readonly nowMs: number;
  readonly request: IncomingMessage;
  readonly rawBody: Buffer;
  readonly #ownOrigin: () => string;

  constructor(services: Services, visit: Visit, rest: { raw: Buffer; ownOrigin: () => string }) {
    this.clock = services.clock;
    this.random = services.random;
    this.settings = services.settings;
    this.names = services.names;
    this.store = services.store;
    this.tokens = services.tokens;
    this.links = services.links;
    this.sockets = services.sockets;
    this.log = services.log;
    this.device = visit.caller.device;
    this.user = visit.caller.user;
    this.requestId = visit.exchange.requestId;
    this.nowMs = visit.nowMs;
    this.request = visit.exchange.request;
    this.rawBody = rest.raw;
    this.#ownOrigin = rest.ownOrigin;
  }

  /** Found out only when a link is made. */
  get origin(): string {
    const { trustProxy } = this.settings;
    return originOf(this.request, { trustProxy, own: this.#ownOrigin() });
  }
}
