/** Who is calling? Tokens of devices and users, from the header or, on /connect, the cookie. Spec: Authentication */
import type { IncomingMessage } from 'node:http';
import type { Authorization } from '../../fixtures/contract/operation.ts';
import type { TokenClaims, TokenIssuer } from '../crypto/tokens.ts';
import type { Store } from '../store/store.ts';
import type { CallingDevice, CallingUser } from './endpoint.ts';
import { type Refusal, refuse } from './refusal.ts';

/** The caller, of the kind that the operation asks for. */
export interface Caller {
  readonly device?: CallingDevice;
  readonly user?: CallingUser;
}

/** Verified tokens are held, since checking a signature costs a hundred times a look-up. */
const HELD_TOKENS_MAX = 100_000;

const bearer = /^bearer +([^\s]+) *$/i;

/** Finds out the caller of a request by its token. */
export class Callers {
  readonly #tokens: TokenIssuer;
  readonly #store: Store;
  readonly #held = new Map<string, TokenClaims>();

  constructor(tokens: TokenIssuer, store: Store) {
    this.#tokens = tokens;
    this.#store = store;
  }

  /** The caller, or the refusal with its reason. Operations without a token have no caller. */
  identify(request: IncomingMessage, kind: Authorization, nowMs: number): Caller | Refusal {
    if (kind !== 'device' && kind !== 'user' && kind !== 'socket') return nobody;
    const token = bearerToken(request, kind === 'socket');
    if (typeof token !== 'string') return token;
    const claims = this.#read(token);
    if ('because' in claims) return refuse.unauthorized(`the token ${claims.because}`);
    if (claims.expiresAt !== undefined && claims.expiresAt * 1000 <= nowMs) {
      return refuse.unauthorized('the token has expired; sign in again');
    }
    return kind === 'user' ? this.#user(claims) : this.#device(claims, nowMs);
  }

  #read(token: string): TokenClaims | { because: string } {
    const known = this.#held.get(token);
    if (known) return known;
    const claims = this.#tokens.read(token);
    if ('because' in claims) return claims;
    if (this.#held.size >= HELD_TOKENS_MAX) this.#held.clear();
    this.#held.set(token, claims);
    return claims;
  }

  #device(claims: TokenClaims, nowMs: number): Caller | Refusal {
    if (claims.kind !== 'device') {
      return refuse.unauthorized("the token is a user's; this operation is for devices");
    }
    const facts = this.#store.devices.acceptedDevice(claims.id);
    if (!facts) return refuse.unauthorized('the device of this token is not accepted any more');
    facts.checkInMs = nowMs;
    return { device: { id: facts.deviceId, authSetId: claims.id } };
  }

  #user(claims: TokenClaims): Caller | Refusal {
    if (claims.kind !== 'user') {
      return refuse.unauthorized("the token is a device's; this operation is for users");
    }
    const user = this.#store.users.find(claims.subject);
    if (!user) return refuse.unauthorized('the user of this token does not exist any more');
    return { user: { id: user.id, email: user.email } };
  }
}

const nobody: Caller = {};

function bearerToken(request: IncomingMessage, cookieToo: boolean): string | Refusal {
  const header = request.headers.authorization;
  if (header === undefined) {
    const cookie = cookieToo ? cookieToken(request.headers.cookie) : undefined;
    return cookie ?? refuse.unauthorized('the Authorization header is missing');
  }
  const token = bearer.exec(header)?.[1];
  return token ?? refuse.unauthorized('the Authorization header must be "Bearer <token>"');
}

function cookieToken(header: string | undefined): string | undefined {
  const cookie = header?.split(';').find((part) => part.trim().startsWith('JWT='));
  return cookie?.trim().slice('JWT='.length);
}
