/** Tokens of devices and users: JWTs signed with one key of this server. Spec: Authentication */
import * as v from 'valibot';
import type { TokenKey } from './token-algorithms.ts';

type TokenKind = 'device' | 'user';

/** The claims of a token that this server issued. */
export interface TokenClaims {
  readonly kind: TokenKind;
  /** Device id or user id. */
  readonly subject: string;
  /** Authentication set id, or the id of the login. */
  readonly id: string;
  readonly tenantId?: string;
  /** Seconds since the Unix epoch; absent in a token without expiry. */
  readonly expiresAt?: number;
}

/** The claims of a token as read. */
export interface ReadClaims extends TokenClaims {
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number;
}

/** Why a text is not a token of this server. */
interface InvalidToken {
  readonly because: string;
}

export interface TokenIssuer {
  issue(claims: TokenClaims, issuedAt: number): string;
  /** Checks form, algorithm and signature; not the time. */
  read(token: string): ReadClaims | InvalidToken;
}

const issuer = 'fleetbed';
const payloadShape = v.object({
  jti: v.string(),
  sub: v.string(),
  iat: v.number(),
  exp: v.optional(v.number()),
  'svc.device': v.optional(v.boolean()),
  'svc.user': v.optional(v.boolean()),
  'svc.tenant': v.optional(v.string()),
});

/** Tokens that were issued and not read yet: most are read soon, once, as their caller is held then. */
const UNREAD_MAX = 1000;

/** Creates an issuer with a key of its own. */
export function createTokenIssuer(key: TokenKey): TokenIssuer {
  const header = base64url(JSON.stringify({ alg: key.algorithm.name, typ: 'JWT' }));
  const unread = new Map<string, ReadClaims>();
  return {
    issue: (claims, issuedAt) => {
      const signed = `${header}.${base64url(payloadOf(claims, issuedAt))}`;
      const token = `${signed}.${key.sign(signed).toString('base64url')}`;
      if (unread.size >= UNREAD_MAX) unread.clear();
      unread.set(token, { ...claims, issuedAt });
      return token;
    },
    read: (token) => {
      // Verifying one costs as much as signing it did.
      const issued = unread.get(token);
      if (issued) {
        unread.delete(token);
        return issued;
      }
      const [head, payload, signature, ...rest] = token.split('.');
      if (payload === undefined || signature === undefined || rest.length > 0) {
        return { because: 'is not a JWT of three parts' };
      }
      // The algorithm is pinned: any other header was not issued here.
      if (head !== header) return { because: 'was not issued by this server' };
      const raw = Buffer.from(signature, 'base64url');
      // The decoder ignores stray characters; a token altered by one is no longer the issued one.
      const isExact = raw.toString('base64url') === signature;
      if (!isExact || !key.verifies(`${head}.${payload}`, raw)) {
        return { because: 'has a signature that does not verify' };
      }
      return claimsOf(payload);
    },
  };
}

function payloadOf(
  { kind, subject, id, tenantId, expiresAt }: TokenClaims,
  issuedAt: number,
): string {
  return JSON.stringify({
    jti: id,
    sub: subject,
    iss: issuer,
    iat: issuedAt,
    ...(expiresAt !== undefined && { exp: expiresAt }),
    [`svc.${kind}`]: true,
    ...(tenantId !== undefined && { 'svc.tenant': tenantId }),
  });
}

function claimsOf(payload: string): ReadClaims | InvalidToken {
  const claims = v.safeParse(
    payloadShape,
    JSON.parse(Buffer.from(payload, 'base64url').toString()),
  );
  if (!claims.success) return { because: 'lacks claims' };
  const { jti, sub, iat, exp, 'svc.device': device, 'svc.tenant': tenantId } = claims.output;
  return {
    kind: device ? 'device' : 'user',
    subject: sub,
    id: jti,
    issuedAt: iat,
    ...(tenantId !== undefined && { tenantId }),
    ...(exp !== undefined && { expiresAt: exp }),
  };
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
