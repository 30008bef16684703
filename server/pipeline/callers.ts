/**
 * Identifies callers by the token of a device or user, from the Authorization header. Users, and
 * devices at /connect, may send the cookie JWT instead.
 * Spec: Authentication
 */
import type { IncomingMessage } from 'node:http';
import { limits } from '../../fixtures/contract/limits.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { ReadClaims, TokenIssuer } from '../crypto/tokens.ts';
import type { Exchange } from '../http/exchange.ts';
import { Refusal, refuse } from '../http/refusal.ts';
import { activateTenant } from '../rules/authentication.ts';
import { ignoreUnwritable } from '../store/engine/storage-error.ts';
import type { Store } from '../store/store.ts';
import type { StoredUserToken } from '../store/user-tokens.ts';
import { accessOf } from '../tenants/access.ts';
import type { Tenant, Tenants } from '../tenants/tenants.ts';
import { bearerToken, tokenDetail, unreadableToken } from './authorization-header.ts';
import type { CallingDevice, CallingUser } from './endpoint.ts';
import { checkLink, hostOf } from './links.ts';
import type { Services } from './services.ts';

/**
 * The caller of an operation; `device` or `user` is set according to the operation's authorization.
 * A caller with a token or link has a tenant.
 */
export interface Caller {
  readonly tenant?: Tenant;
  readonly device?: CallingDevice;
  readonly user?: CallingUser;
  /** ID of the device for which the link says it was issued. It is not authenticated. */
  readonly linkedDeviceId?: string | undefined;
}

type CallerServices = Pick<
  Services,
  'tokenIssuer' | 'tenants' | 'settings' | 'linkSigner' | 'headerNames'
>;

const linkOfNoTenant = refuse.forbidden('the tenant of this link no longer exists', {
  path: 'query.tenant_id',
  expected: 'the tenant_id of the link, unchanged',
});

/** The requested operation; or a request that needs authorization but has no operation ID. */
type RequestedOperation = Pick<Operation, 'authorization'> & Partial<Pick<Operation, 'id'>>;

/** A verified token, with the header that contained it. */
interface CachedToken {
  readonly header: string;
  readonly claims: ReadClaims;
}

/**
 * Maximum number of cached tokens: checking a signature costs a hundred times as much as a look-up.
 */
const CACHED_TOKENS_MAX = 100_000;
/**
 * Length of the cache key, the end of the token's signature: hashing the whole token would cost as
 * much as the rest of the look-up.
 */
const CACHE_KEY_CHARACTERS = 32;

/** Finds the caller of a request by its token. */
export class Callers {
  readonly #tokenIssuer: TokenIssuer;
  readonly #tenants: Tenants;
  readonly #trustProxy: boolean;
  readonly #cached = new Map<string, CachedToken>();
  readonly #linkServices: Pick<Services, 'linkSigner' | 'headerNames'>;

  constructor({ tokenIssuer, tenants, settings, linkSigner, headerNames }: CallerServices) {
    this.#linkServices = { linkSigner, headerNames };
    this.#tokenIssuer = tokenIssuer;
    this.#tenants = tenants;
    this.#trustProxy = settings.trustProxy;
  }

  /**
   * Returns the caller, or a refusal: 401 for a missing or invalid token, 403 where the user's
   * roles do not permit the operation and for an invalid link. Operations without a token have no
   * caller.
   */
  find(exchange: Exchange, { authorization: kind, id }: RequestedOperation): Caller | Refusal {
    if (kind === 'link') return this.#holderOfLink(exchange);
    const { request } = exchange;
    if (kind !== 'device' && kind !== 'user' && kind !== 'socket') return anonymous;
    const caller = this.#holderOfToken(request, kind, id);
    const { authorization, cookie } = request.headers;
    const isCookieToken = kind !== 'device' && authorization === undefined && cookie !== undefined;
    return isCookieToken && caller instanceof Refusal ? cookieRefusal(caller) : caller;
  }

  #holderOfToken(
    request: IncomingMessage,
    kind: 'device' | 'user' | 'socket',
    id: RequestedOperation['id'],
  ): Caller | Refusal {
    const mayBeCookie = kind !== 'device';
    const claims = this.#read(request, mayBeCookie);
    if (claims instanceof Refusal) return claims;
    const tenant = this.#tenants.find(claims.tenantId ?? '');
    if (!tenant) {
      const detail = tokenDetail('a token of an existing tenant', `tenant ${claims.tenantId}`);
      return refuse.unauthorized('the tenant of this token no longer exists', detail);
    }
    const nowMs = tenant.clock.now();
    if (claims.expiresAt !== undefined && claims.expiresAt * 1000 <= nowMs) {
      const detail = tokenDetail(
        `a token that expires after ${isoOf(nowMs)}`,
        `a token that expired at ${isoOf(claims.expiresAt * 1000)}`,
        'tokens.expired-is-refused',
      );
      return refuse.unauthorized('the token has expired; get a new one', detail);
    }
    if (tenant.status === 'suspended') return accountSuspended;
    const tokenFacts = { claims, tenant, nowMs };
    const caller = kind === 'user' ? userOf(tokenFacts, id) : deviceOf(tokenFacts);
    if (!mayBeCookie || caller instanceof Refusal) return caller;
    return refuseForeignPage(request, kind === 'user', this.#trustProxy) ?? caller;
  }

  /** Returns a refused caller, of which only what the token or link names is known. */
  unauthenticated(exchange: Exchange, operation: RequestedOperation): Caller {
    const usesLink = operation.authorization === 'link';
    const tenant = this.named(exchange, operation);
    if (!tenant) return anonymous;
    return { tenant, linkedDeviceId: usesLink ? deviceOfLink(exchange) : undefined };
  }

  /**
   * Returns the tenant named in a token of this server, even if the token is no longer valid;
   * undefined without such a token.
   */
  tenantOf(request: IncomingMessage): Tenant | undefined {
    const claims = this.#read(request, true);
    return claims instanceof Refusal ? undefined : this.#tenants.find(claims.tenantId ?? '');
  }

  /**
   * Returns the ID of the device named in a token or link of this server, even if it is no longer
   * valid.
   */
  deviceIn({ authorization }: RequestedOperation, exchange: Exchange): string | undefined {
    if (authorization === 'link') return deviceOfLink(exchange);
    const { request } = exchange;
    const claims = this.#read(request, true);
    return claims instanceof Refusal || claims.kind !== 'device' ? undefined : claims.subject;
  }

  /** Returns the tenant named in the caller's token or link, even if the caller is refused. */
  named({ request, search }: Exchange, { authorization }: RequestedOperation): Tenant | undefined {
    if (authorization !== 'link') return this.tenantOf(request);
    return this.#tenantOfLink(new URLSearchParams(search));
  }

  #tenantOfLink(search: URLSearchParams): Tenant | undefined {
    const tenantId = search.get('tenant_id') ?? '';
    return tenantId === '' ? this.#tenants.first : this.#tenants.find(tenantId);
  }

  #holderOfLink(exchange: Exchange): Caller | Refusal {
    const { path } = exchange;
    const search = new URLSearchParams(exchange.search);
    const tenant = this.#tenantOfLink(search);
    const nowMs = (tenant ?? this.#tenants.first).clock.now();
    const wrong = checkLink(this.#linkServices, { path, search, nowMs });
    return wrong ?? (tenant ? { tenant, linkedDeviceId: deviceOfLink(exchange) } : linkOfNoTenant);
  }

  #read(request: IncomingMessage, cookieToo: boolean): ReadClaims | Refusal {
    const header = request.headers.authorization;
    const cachedToken = header === undefined ? undefined : this.#cached.get(cacheKey(header));
    if (cachedToken !== undefined && cachedToken.header === header) return cachedToken.claims;
    const token = bearerToken(request, cookieToo);
    if (typeof token !== 'string') return token;
    const claims = this.#tokenIssuer.read(token);
    if ('reason' in claims) return unreadableToken(request, token, claims.reason);
    if (header !== undefined) this.#cache({ header, claims });
    return claims;
  }

  #cache(verified: CachedToken): void {
    if (this.#cached.size >= CACHED_TOKENS_MAX) this.#cached.clear();
    this.#cached.set(cacheKey(verified.header), verified);
  }
}

function cacheKey(header: string): string {
  return header.slice(-CACHE_KEY_CHARACTERS);
}

/** A token with a valid signature whose device or user is not looked up yet. */
interface VerifiedToken {
  readonly claims: ReadClaims;
  readonly tenant: Tenant;
  readonly nowMs: number;
}

function deviceOf({ claims, tenant, nowMs }: VerifiedToken): Caller | Refusal {
  if (claims.kind !== 'device') {
    const detail = tokenDetail("a device's token", "a user's token");
    return refuse.unauthorized("the token is a user's; this operation is for devices", detail);
  }
  const cached = tenant.store.devices.cache.findByAcceptedSet(claims.id);
  if (!cached) {
    const detail = tokenDetail(
      'a token of an accepted device',
      `a token of device ${claims.subject}, whose key is not accepted`,
    );
    return refuse.unauthorized('the device of this token is no longer accepted', detail);
  }
  if (claims.issuedAt < cached.tokensValidFromSeconds) {
    const detail = tokenDetail(
      `a token issued at ${isoOf(cached.tokensValidFromSeconds * 1000)} or later`,
      `a token issued at ${isoOf(claims.issuedAt * 1000)}`,
    );
    return refuse.unauthorized('the token has been revoked; authenticate again', detail);
  }
  cached.checkInMs = nowMs;
  return { tenant, device: { id: cached.deviceId, authSetId: claims.id } };
}

function userOf({ claims, tenant, nowMs }: VerifiedToken, operationId?: string): Caller | Refusal {
  if (claims.kind !== 'user') {
    const detail = tokenDetail("a user's token", "a device's token");
    return refuse.unauthorized("the token is a device's; this operation is for users", detail);
  }
  const { store } = tenant;
  const user = store.users.find(claims.subject);
  if (!user) {
    const detail = tokenDetail('a token of an existing user', `user ${claims.subject}`);
    return refuse.unauthorized('the user of this token no longer exists', detail);
  }
  const token = store.userTokens.find(claims.id);
  if (!token) {
    const detail = tokenDetail(
      'a valid token',
      'a token that was revoked, or whose session has ended',
    );
    return refuse.unauthorized(
      'the token has been revoked, or its session has ended; log in again',
      detail,
    );
  }
  if (isUseToRecord(token, nowMs)) recordUse(store, token.id, nowMs);
  const caller = { id: user.id, email: user.email, tokenId: claims.id };
  if (operationId === undefined) return { tenant, user: caller };
  const access = accessOf(store, user, operationId);
  if (access.decision === 'refuse') {
    const roles = user.roles.join(', ');
    return refuse.forbidden(access.reason, {
      ...tokenDetail('a user whose roles permit this', roles, 'errors.role-forbidden-is-403'),
      rule: roleRule,
    });
  }
  return { tenant, user: { ...caller, ...(access.groups && { groups: access.groups }) } };
}

/** Records the use of a token; a failed write must not refuse the request. */
function recordUse(store: Store, tokenId: string, nowMs: number): void {
  ignoreUnwritable(() => store.userTokens.recordUse(tokenId, nowMs));
}

function isUseToRecord({ kind, lastUsedMs = 0 }: StoredUserToken, nowMs: number): boolean {
  return kind === 'personal' && nowMs - lastUsedMs >= limits.personalTokenLastUsedSeconds * 1000;
}

/** The refusal for all callers of a suspended tenant. */
export const accountSuspended = refuse.unauthorized(
  "Account suspended: the tenant's users and devices cannot authenticate",
  {
    path: 'state',
    expected: 'an active tenant',
    actual: 'a suspended tenant',
    requirement: 'tokens.invalid-is-401',
    remedy: activateTenant,
  },
);
const anonymous: Caller = {};
const roleRule =
  'Users may call the operations that their roles permit; a user without roles may call all.';

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns the refusal of a token that came in the cookie: the location is the Cookie header. */
function cookieRefusal({ status, error, headers, detail }: Refusal): Refusal {
  if (detail?.path !== 'header.Authorization')
    return new Refusal(status, error, { headers, detail });
  return new Refusal(status, error, { headers, detail: { ...detail, path: 'header.Cookie' } });
}

/**
 * Returns 403 for a cookie that a browser may have sent from a page of another origin without the
 * user's intent. Browsers send Origin with every WebSocket handshake, and with every other request
 * that changes state.
 */
function refuseForeignPage(
  request: IncomingMessage,
  isUser: boolean,
  trustProxy: boolean,
): Refusal | undefined {
  const { authorization, origin, upgrade } = request.headers;
  const needsOrigin = isUser && upgrade !== undefined;
  if (authorization !== undefined || (origin === undefined && !needsOrigin)) return undefined;
  const host = hostOf(request, trustProxy) ?? '';
  if (origin !== undefined && isHostOf(origin, host)) return undefined;
  return refuse.forbidden(
    'the cookie JWT is accepted only from pages of this server (Origin must match Host); other clients must send the Authorization header',
    {
      path: 'header.Origin',
      expected: host,
      actual: origin ?? 'nothing',
      remedy: 'send the token in the Authorization header instead of the cookie',
    },
  );
}

function isHostOf(origin: string, host: string): boolean {
  const [scheme = ''] = origin.split('//', 1);
  // Origin and Host may each include or omit the default port of the scheme.
  const [page, serverOrigin] = [origin, `${scheme}//${host}`].map((url) =>
    URL.canParse(url) ? new URL(url).host : '',
  );
  return page !== '' && page === serverOrigin;
}

/** The format of a device's ID. The query of a link may have any text in its place. */
const deviceIdText = /^[0-9a-f-]{36}$/;

/** Returns the device for which a link says that it was issued, in its path or query. */
function deviceOfLink({ parameters, search }: Exchange): string | undefined {
  const id = parameters.device_id ?? new URLSearchParams(search).get('device_id') ?? '';
  return deviceIdText.test(id) ? id : undefined;
}
