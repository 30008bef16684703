/**
 * Serves the management API to the console: its paths below `/management`, under the control token,
 * as the administrator of the tenant that `?tenant=` names. These calls are not recorded in any
 * journal.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { parse } from 'node:querystring';
import type { RequestHandler } from 'express';
import type { Clock } from '../../../fixtures/base/clock.ts';
import type { Random } from '../../../fixtures/base/random.ts';
import { apiPrefixes } from '../../../fixtures/contract/deprecations.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { TokenIssuer } from '../../crypto/tokens.ts';
import type { InternalApi } from '../../listeners/internal-api.ts';
import { bareResponse } from '../../listeners/unparsable.ts';
import { handleUpgrades } from '../../listeners/upgrades.ts';
import { isActingAdmin } from '../../tenants/access.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { issueUserToken } from '../../tenants/user-tokens.ts';
import { type Handlers, namedTenant, requireKnown } from './mount.ts';
import { ControlRefusal, throwRefusal } from './refusals.ts';

/** Path prefix of the management API on the control listener. */
export const managementPrefix = '/management';

/**
 * Query parameter for the ticket of a WebSocket, because a browser cannot set headers for a
 * WebSocket.
 */
const ticketName = 'ticket';
const TICKET_LIFE_MS = 30_000;
/** Maximum number of unused tickets. The oldest ones are discarded. */
const TICKETS_MAX = 64;

/** The API, and the services that issue tokens for it. */
export interface ManagementServices {
  readonly internalApi: InternalApi;
  readonly tokenIssuer: TokenIssuer;
  readonly random: Random;
  /** The machine's clock, because a tenant's clock may be stopped. */
  readonly clock: Clock;
}

const rows = {
  ...managementOperations,
  'list-audit-logs': operations['list-audit-logs'],
  'export-audit-logs': operations['export-audit-logs'],
};

/** The operations with their path patterns and the query parameters that each accepts. */
const paths = Object.values(rows).map(({ id, method, path, ...row }) => ({
  id,
  method,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
  takes: ['tenant', ...('query' in row ? Object.keys(row.query) : [])],
}));

/**
 * Refuses a query parameter that the operation does not have: a misspelt `tenant` would make the
 * operation act on the first tenant. Unknown paths are left to the API, which refuses them.
 */
function requireOperationsOwn(
  wanted: string | undefined,
  path: string,
  query: Readonly<Record<string, unknown>>,
): void {
  const method = wanted === 'HEAD' ? 'GET' : wanted;
  const operation = paths.find((each) => each.method === method && each.pattern.test(path));
  if (operation === undefined) return;
  // This operation accepts any attribute name as a parameter, so only misspellings of `tenant`
  // are refused.
  const isOpen = operation.id === 'list-inventory';
  const checkedNames = Object.keys(query).filter((name) => !isOpen || isTenantMisspelt(name));
  requireKnown(Object.fromEntries(checkedNames.map((name) => [name, true])), operation.takes);
}

function isTenantMisspelt(name: string): boolean {
  const letters = name.toLowerCase().replace(/[^a-z]/g, '');
  return /^(tenants?|tenantid|tenantname|world)$/.test(letters);
}

/**
 * Authorizes requests and WebSockets of the console: the administrators' tokens, and the tickets
 * for WebSockets.
 */
export interface ConsoleAuthorization {
  readonly admins: Admins;
  readonly tickets: SocketTickets;
}

/** Creates the administrators' tokens and tickets of one control listener. */
export function createConsoleAuthorization(management: ManagementServices): ConsoleAuthorization {
  return { admins: new Admins(management), tickets: new SocketTickets(management) };
}

const shownRows = Object.fromEntries(
  Object.values(rows).map(({ id, method, path }) => [id, { method, path }]),
);

/** Creates the handlers that list the operations and issue tickets for WebSockets. */
export function managementHandlers({ tickets }: ConsoleAuthorization) {
  return {
    'GET /management': () => shownRows,
    'POST /management/tickets': () => ({ ticket: tickets.issue() }),
  } satisfies Partial<Handlers>;
}

/** Passes requests below the prefix to the API. */
export function passRequests(
  { admins }: ConsoleAuthorization,
  tenants: Tenants,
  internalApi: InternalApi,
): RequestHandler {
  return (request, response) => {
    if (!request.url.startsWith(apiPrefixes.management)) {
      throwRefusal(404, 'no operation of the management API has this path');
    }
    requireOperationsOwn(request.method, request.path, request.query);
    const tenant = namedTenant(tenants, request.query) ?? tenants.first;
    actAs(request, admins.tokenFor(tenant));
    internalApi.pass(request, response);
  };
}

/** The services that check a WebSocket request before it passes to the API. */
interface SocketGate extends ConsoleAuthorization {
  readonly tenants: Tenants;
  readonly internalApi: InternalApi;
  /** Throws a refusal for a request with another host or origin. */
  readonly requireOwn: (request: IncomingMessage) => void;
}

/** Passes WebSockets of the management API that have a valid ticket. */
export function passSockets(server: Server, gate: SocketGate): void {
  handleUpgrades(server, {
    isAccepted: (request) => {
      const url = targetOf(request);
      const { method, headers } = request;
      return url !== undefined && gate.internalApi.opensSocket({ method, url, headers });
    },
    accept: (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      try {
        admitSocket(request, gate);
      } catch (error) {
        if (!(error instanceof ControlRefusal)) throw error;
        const { status, message } = error;
        socket.write(bareResponse(`${status} Refused`, { error: message }, {}));
        (socket as Socket).destroySoon();
        return;
      }
      gate.internalApi.upgrade(request, socket, head);
    },
  });
}

/**
 * Returns the path and query without the prefix, as the API sees them; undefined outside the
 * prefix.
 */
function targetOf({ url = '' }: IncomingMessage): string | undefined {
  return url.startsWith(`${managementPrefix}/`) ? url.slice(managementPrefix.length) : undefined;
}

function admitSocket(request: IncomingMessage, gate: SocketGate): void {
  gate.requireOwn(request);
  // Any other upgrade target, such as a tunnel, is refused.
  const target = targetOf(request) ?? throwRefusal(404, 'this path has no WebSocket');
  const [path = '', search = ''] = target.split('?', 2);
  const { [ticketName]: ticket, ...query } = parse(search);
  if (!gate.tickets.use(String(ticket))) {
    throwRefusal(
      401,
      'the ticket is missing, used or expired; create one with POST /management/tickets',
    );
  }
  requireOperationsOwn('GET', path, query);
  const tenant = namedTenant(gate.tenants, query) ?? gate.tenants.first;
  request.url = target;
  actAs(request, gate.admins.tokenFor(tenant));
}

/** Sets the administrator's token, and removes cookies and the origin of the browser. */
function actAs({ headers }: IncomingMessage, token: string): void {
  headers.authorization = `Bearer ${token}`;
  delete headers.cookie;
  delete headers.origin;
}

/** Tickets for one WebSocket each, issued to callers that have sent the control token. */
class SocketTickets {
  readonly #management: ManagementServices;
  /** The expiry of each unused ticket, in milliseconds since the Unix epoch. */
  readonly #open = new Map<string, number>();

  constructor(management: ManagementServices) {
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

/** Tokens of the tenants' administrators. */
class Admins {
  readonly #management: ManagementServices;
  readonly #tokens = new WeakMap<Tenant, { readonly id: string; readonly token: string }>();

  constructor(management: ManagementServices) {
    this.#management = management;
  }

  /**
   * Returns a token without expiry. Issues a new one if a reset of the tenant has ended the
   * previous one.
   */
  tokenFor(tenant: Tenant): string {
    const { store, clock } = tenant;
    const cachedToken = this.#tokens.get(tenant);
    if (cachedToken && store.userTokens.find(cachedToken.id)) return cachedToken.token;
    const [admin] = store.users
      .list({ id: [], email: [] }, { page: 1, perPage: ADMINS_SEARCHED })
      .filter((user) => isActingAdmin(store, user));
    if (!admin) throwRefusal(409, 'the tenant has no user with full access; add one');
    const tokenRequest = { userId: admin.id, kind: 'first', nowMs: clock.now() } as const;
    const token = issueUserToken(this.#management, tenant, tokenRequest);
    const claims = this.#management.tokenIssuer.read(token);
    if (!('reason' in claims)) this.#tokens.set(tenant, { id: claims.id, token });
    return token;
  }
}

/** Number of users that are searched for an administrator, oldest first. */
const ADMINS_SEARCHED = 1000;
