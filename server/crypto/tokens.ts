/** Tokens of devices and users: JWTs signed with one Ed25519 key of this server. Spec: Authentication */
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import * as v from 'valibot';
import type { Random } from '../../fixtures/random.ts';

type TokenKind = 'device' | 'user';

/** What a token says, once it has been proven to be ours. */
export interface TokenClaims {
  readonly kind: TokenKind;
  /** Device id or user id. */
  readonly subject: string;
  /** Authentication set id, or the id of the login. */
  readonly id: string;
  /** Seconds since the Unix epoch; absent in a token without end. */
  readonly expiresAt?: number;
}

/** Why a text is no token of ours. */
interface InvalidToken {
  readonly because: string;
}

export interface TokenIssuer {
  issue(claims: TokenClaims, issuedAt: number): string;
  /** Checks form, algorithm and signature; not the time. */
  read(token: string): TokenClaims | InvalidToken;
}

const header = base64url(JSON.stringify({ alg: 'EdDSA', typ: 'JWT' }));
const issuer = 'fleetbed';
const payloadShape = v.object({
  jti: v.string(),
  sub: v.string(),
  exp: v.optional(v.number()),
  'svc.device': v.optional(v.boolean()),
  'svc.user': v.optional(v.boolean()),
});

/** PKCS#8 wrapping of a raw Ed25519 seed (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** An issuer with a key of its own. */
export function createTokenIssuer(random: Random): TokenIssuer {
  const der = Buffer.concat([pkcs8Prefix, random.bytes(32)]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey);
  return {
    issue: (claims, issuedAt) => {
      const signed = `${header}.${base64url(payloadOf(claims, issuedAt))}`;
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
    },
    read: (token) => {
      const [head, payload, signature, ...rest] = token.split('.');
      if (payload === undefined || signature === undefined || rest.length > 0) {
        return { because: 'is not a JWT of three parts' };
      }
      // The algorithm is pinned: whatever else a header asks for was not issued here.
      if (head !== header) return { because: 'was not issued by this server' };
      const signed = Buffer.from(`${head}.${payload}`);
      const raw = Buffer.from(signature, 'base64url');
      // The decoder overlooks stray characters; a token altered by one is not ours any more.
      const isExact = raw.toString('base64url') === signature;
      if (!isExact || !verify(null, signed, publicKey, raw)) {
        return { because: 'has a signature that does not verify' };
      }
      return claimsOf(payload);
    },
  };
}

function payloadOf({ kind, subject, id, expiresAt }: TokenClaims, issuedAt: number): string {
  return JSON.stringify({
    jti: id,
    sub: subject,
    iss: issuer,
    iat: issuedAt,
    ...(expiresAt !== undefined && { exp: expiresAt }),
    [`svc.${kind}`]: true,
  });
}

function claimsOf(payload: string): TokenClaims | InvalidToken {
  const claims = v.safeParse(
    payloadShape,
    JSON.parse(Buffer.from(payload, 'base64url').toString()),
  );
  if (!claims.success) return { because: 'lacks claims' };
  const { jti, sub, exp, 'svc.device': device } = claims.output;
  return {
    kind: device ? 'device' : 'user',
    subject: sub,
    id: jti,
    ...(exp !== undefined && { expiresAt: exp }),
  };
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
