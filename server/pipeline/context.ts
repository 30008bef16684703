/** What a handler sees of its request, beside the checked input. */
import type { IncomingMessage } from 'node:http';
import type { Exchange } from '../http/exchange.ts';
import type { Store } from '../store/store.ts';
import type { Tenant } from '../tenants/tenants.ts';
import type { Caller } from './callers.ts';
import type { Endpoint, RequestContext } from './endpoint.ts';
import { originOf } from './links.ts';
import type { Services } from './services.ts';

/** An exchange on its way, with its caller once that is known. */
export interface Visit {
  readonly endpoint: Endpoint;
  readonly exchange: Exchange;
  readonly caller: Caller;
  /** The moment of the request, milliseconds since the Unix epoch. */
  readonly nowMs: number;
}

/** What is known beside services and visit. */
interface Rest {
  readonly raw: Buffer;
  readonly origins: Origins;
}

/** Where our own listeners are; known once they listen. */
export interface Origins {
  readonly own: () => string;
  /** Of the listener for artifact files, where there is one. */
  readonly storage: () => string | undefined;
  /** Of the console, on the control listener. */
  readonly consoleUrl?: (() => string | undefined) | undefined;
}

/** A class of plain fields: an object spread together for each request cost a third of a poll. */
export class HandlerContext implements RequestContext {
  readonly clock: Services['clock'];
  readonly random: Services['random'];
  readonly settings: Services['settings'];
  readonly names: Services['names'];
  readonly tenants: Services['tenants'];
  readonly tenant: Tenant;
  readonly store: Store;
  readonly tokens: Services['tokens'];
  readonly links: Services['links'];
  readonly sockets: Services['sockets'];
  readonly outbox: Services['outbox'];
  readonly log: Services['log'];
  readonly openFiles: Services['openFiles'];
  readonly underway: Services['underway'];
  readonly device: Caller['device'];
  readonly user: Caller['user'];
  readonly requestId: string;
  readonly nowMs: number;
  readonly request: IncomingMessage;
  readonly rawBody: Buffer;
  readonly #made: [Services, Visit, Rest];

  constructor(services: Services, visit: Visit, rest: Rest) {
    // A request lives in the time of its world.
    this.random = services.random;
    this.settings = services.settings;
    this.names = services.names;
    this.tenants = services.tenants;
    this.tenant = visit.caller.tenant ?? services.tenants.first;
    this.store = this.tenant.store;
    this.clock = this.tenant.clock;
    this.tokens = services.tokens;
    this.links = services.links;
    this.sockets = services.sockets;
    this.outbox = services.outbox;
    this.log = services.log;
    this.openFiles = services.openFiles;
    this.underway = services.underway;
    this.device = visit.caller.device;
    this.user = visit.caller.user;
    this.requestId = visit.exchange.requestId;
    this.nowMs = visit.nowMs;
    this.request = visit.exchange.request;
    this.rawBody = rest.raw;
    this.#made = [services, visit, rest];
  }

  /** Found out only when a link is made. */
  get origin(): string {
    const { trustProxy } = this.settings;
    return originOf(this.request, { trustProxy, own: this.#made[2].origins.own() });
  }

  /** The caller's way to the host, with the port of the listener for artifact files. */
  get storageOrigin(): string {
    const storage = this.#made[2].origins.storage();
    if (storage === undefined) return this.origin;
    const url = new URL(this.origin);
    const { protocol, port } = new URL(storage);
    url.protocol = protocol;
    url.port = port;
    return url.origin;
  }

  within(tenant: Tenant): RequestContext {
    const [services, visit, rest] = this.#made;
    visit.exchange.world = tenant;
    const caller = { ...visit.caller, tenant };
    return new HandlerContext(services, { ...visit, caller, nowMs: tenant.clock.now() }, rest);
  }
}
