/**
 * The management API for the console: below `/management` its own paths, under the control token, as
 * the administrator of the tenant that `?tenant=` names. These calls are not in any journal.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { parse } from 'node:querystring';
import type { RequestHandler } from 'express';
import type { Clock } from '../../../fixtures/clock.ts';
import { apiPrefixes } from '../../../fixtures/contract/deprecations.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { Random } from '../../../fixtures/random.ts';
import type { TokenIssuer } from '../../crypto/tokens.ts';
import type { InternalApi } from '../../listeners/internal-api.ts';
import { bareAnswer } from '../../listeners/unreadable.ts';
import { onUpgrade } from '../../listeners/upgrades.ts';
import { isActingAdmin } from '../../tenants/access.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { issueUserToken } from '../../tenants/user-tokens.ts';
import { type Handlers, namedTenant, requireKnown } from './mount.ts';
import { ControlRefusal, refuse } from './refusals.ts';

/** Below it are the paths of the API. */
export const managementPrefix = '/management';

/** Parameter of a websocket's address, in which a browser can set no header. */
const ticketName = 'ticket';
const TICKET_LIFE_MS = 30_000;
/** Tickets that are not used yet; the oldest are forgotten. */
const TICKETS_MAX = 64;

/** The API, and what makes tokens for it. */
export interface Management {
  readonly internalApi: InternalApi;
  readonly tokens: TokenIssuer;
  readonly random: Random;
  /** The machine's own: a tenant's may be frozen. */
  readonly clock: Clock;
}

const rows = {
  ...managementOperations,
  'list-audit-logs': operations['list-audit-logs'],
  'export-audit-logs': operations['export-audit-logs'],
};

/** The operations by their places, and the parameters that each takes. */
const places = Object.values(rows).map(({ id, method, path, ...row }) => ({
  ...{ id, method },
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
  takes: ['tenant', ...('query' in row ? Object.keys(row.query) : [])],
}));

/**
 * Refuses a parameter that the operation does not have: a misspelt `tenant` would make it act on the
 * first one. The API refuses a path that is none of an operation.
 */
function requireOperationsOwn(
  wanted: string | undefined,
  path: string,
  query: Readonly<Record<string, unknown>>,
): void {
  const method = wanted === 'HEAD' ? 'GET' : wanted;
  const place = places.find((each) => each.method === method && each.pattern.test(path));
  if (place === undefined) return;
  // Of this operation, any other parameter is the name of an attribute.
  const isOpen = place.id === 'list-inventory';
  const meant = Object.keys(query).filter((name) => !isOpen || isTenantMisspelt(name));
  requireKnown(Object.fromEntries(meant.map((name) => [name, true])), place.takes);
}

function isTenantMisspelt(name: string): boolean {
  const letters = name.toLowerCase().replace(/[^a-z]/g, '');
  return /^(tenants?|tenantid|tenantname|world)$/.test(letters);
}

/** Who passes: the administrators of the tenants, and the tickets for websockets. */
export interface Admission {
  readonly admins: Admins;
  readonly tickets: Tickets;
}

/** Opens the passage for the administrators of the tenants. */
export function openAdmission(management: Management): Admission {
  return { admins: new Admins(management), tickets: new Tickets(management) };
}

const shownRows = Object.fromEntries(
  Object.values(rows).map(({ id, method, path }) => [id, { method, path }]),
);

/** What is said of the operations, and who may open a websocket of one. */
export function managementHandlers({ tickets }: Admission) {
  return {
    'GET /management': () => shownRows,
    'POST /management/tickets': () => ({ ticket: tickets.issue() }),
  } satisfies Partial<Handlers>;
}

/** Passes requests below the prefix to the API. */
export function passRequests(
  { admins }: Admission,
  tenants: Tenants,
  internalApi: InternalApi,
): RequestHandler {
  return (request, response) => {
    if (!request.url.startsWith(apiPrefixes.management)) {
      refuse(404, 'no operation of the management API has this path');
    }
    requireOperationsOwn(request.method, request.path, request.query);
    const tenant = namedTenant(tenants, request.query) ?? tenants.first;
    actAs(request, admins.tokenFor(tenant));
    internalApi.pass(request, response);
  };
}

/** What is checked of a request for a websocket before it passes. */
interface SocketGate extends Admission {
  readonly tenants: Tenants;
  readonly internalApi: InternalApi;
  /** Throws a refusal for a request of another host or origin. */
  readonly requireOwn: (request: IncomingMessage) => void;
}

/** Lets websockets of the management API through that show a ticket. */
export function passSockets(server: Server, gate: SocketGate): void {
  onUpgrade(server, {
    isTaken: (request) => {
      const url = targetOf(request);
      const { method, headers } = request;
      return url !== undefined && gate.internalApi.opensSocket({ method, url, headers });
    },
    take: (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      try {
        admitSocket(request, gate);
      } catch (error) {
        if (!(error instanceof ControlRefusal)) throw error;
        const { status, message } = error;
        socket.write(bareAnswer(`${status} Refused`, { error: message }, {}));
        (socket as Socket).destroySoon();
        return;
      }
      gate.internalApi.upgrade(request, socket, head);
    },
  });
}

/** What the API sees of a target below the prefix. */
function targetOf({ url = '' }: IncomingMessage): string | undefined {
  return url.startsWith(`${managementPrefix}/`) ? url.slice(managementPrefix.length) : undefined;
}

function admitSocket(request: IncomingMessage, gate: SocketGate): void {
  gate.requireOwn(request);
  // A tunnel is the other thing that may be asked for, and there is none.
  const target = targetOf(request) ?? refuse(404, 'this path has no websocket');
  const [path = '', search = ''] = target.split('?', 2);
  const { [ticketName]: ticket, ...query } = parse(search);
  if (!gate.tickets.use(String(ticket))) {
    refuse(401, 'the ticket is missing, used or expired; create one with POST /management/tickets');
  }
  requireOperationsOwn('GET', path, query);
  const tenant = namedTenant(gate.tenants, query) ?? gate.tenants.first;
  request.url = target;
  actAs(request, gate.admins.tokenFor(tenant));
}

/** The API is to see the administrator, and nothing that the browser has kept for it. */
function actAs({ headers }: IncomingMessage, token: string): void {
  headers.authorization = `Bearer ${token}`;
  delete headers.cookie;
  delete headers.origin;
}

/** Admissions for one websocket each, given to who has shown the control token. */
class Tickets {
  readonly #management: Management;
  /** The end of each ticket, in milliseconds since the Unix epoch. */
  readonly #open = new Map<string, number>();

  constructor(management: Management) {
    this.#management = management;
  }

  issue(): string {
    const { random, clock } = this.#management;
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= TICKETS_MAX) this.#open.delete(oldest);
    const ticket = random.bytes(24).toString('base64url');
    this.#open.set(ticket, clock.now() + TICKET_LIFE_MS);
    return ticket;
  }

  use(ticket: string): boolean {
    const endsMs = this.#open.get(ticket) ?? 0;
    this.#open.delete(ticket);
    return endsMs > this.#management.clock.now();
  }
}

/** The administrators of the tenants, signed in. */
class Admins {
  readonly #management: Management;
  readonly #tokens = new WeakMap<Tenant, { readonly id: string; readonly token: string }>();

  constructor(management: Management) {
    this.#management = management;
  }

  /** A token without end, issued again where a reset of the tenant has ended the one of before. */
  tokenFor(tenant: Tenant): string {
    const { store, clock } = tenant;
    const known = this.#tokens.get(tenant);
    if (known && store.userTokens.find(known.id)) return known.token;
    const [admin] = store.users
      .list({ id: [], email: [] }, { page: 1, perPage: ADMINS_SEARCHED })
      .filter((user) => isActingAdmin(store, user));
    if (!admin) refuse(409, 'the tenant has no user with full access; add one');
    const wanted = { userId: admin.id, kind: 'first', nowMs: clock.now() } as const;
    const token = issueUserToken(this.#management, tenant, wanted);
    const claims = this.#management.tokens.read(token);
    if (!('because' in claims)) this.#tokens.set(tenant, { id: claims.id, token });
    return token;
  }
}

/** Users among whom the administrator is looked for, the oldest first. */
const ADMINS_SEARCHED = 1000;
