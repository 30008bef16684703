/**
 * Tokens of devices and users: JWTs that are signed with one key of this server. `tokenAlgorithms`
 * lists the algorithms.
 * Spec: Authentication
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import * as v from 'valibot';
import { isObject, parsedJson } from '../../fixtures/base/json.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { freshRsaKey, type Random } from '../../fixtures/base/random.ts';

type TokenKind = 'device' | 'user';

/** The claims of a token that this server issues. */
export interface TokenClaims {
  readonly kind: TokenKind;
  /** Device ID or user ID. */
  readonly subject: string;
  /** Authentication set ID for a device, login ID for a user. */
  readonly id: string;
  readonly tenantId?: string;
  /** Seconds since the Unix epoch; absent when the token does not expire. */
  readonly expiresAt?: number;
}

/** The claims read from a token, with the time of issue. */
export interface ReadClaims extends TokenClaims {
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number;
}

/** The reason why a string is not a token of this server. */
interface InvalidToken {
  readonly reason: string;
}

export interface TokenIssuer {
  issue(claims: TokenClaims, issuedAt: number): string;
  /** Checks form, algorithm and signature; does not check the expiry. */
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

/**
 * Maximum number of issued tokens whose claims are cached until they are first read. Most tokens
 * are read once soon after they were issued; later reads are cached with the caller.
 */
const UNREAD_MAX = 1000;

/** Creates an issuer that signs with this key. */
export function createTokenIssuer(key: TokenKey): TokenIssuer {
  const header = base64url(JSON.stringify({ alg: key.algorithm.name, typ: 'JWT' }));
  const issuedClaims = new Map<string, ReadClaims>();
  return {
    issue: (claims, issuedAt) => {
      const signed = `${header}.${base64url(payloadOf(claims, issuedAt))}`;
      const token = `${signed}.${key.sign(signed).toString('base64url')}`;
      if (issuedClaims.size >= UNREAD_MAX) issuedClaims.clear();
      issuedClaims.set(token, { ...claims, issuedAt });
      return token;
    },
    read: (token) => {
      // The cache saves one verification, which costs as much as the signature did.
      const cachedClaims = issuedClaims.get(token);
      if (cachedClaims) {
        issuedClaims.delete(token);
        return cachedClaims;
      }
      const [head, payload, signature, ...furtherParts] = token.split('.');
      if (payload === undefined || signature === undefined || furtherParts.length > 0) {
        return { reason: 'is not a JWT (three parts separated by dots)' };
      }
      // The algorithm is fixed: a token with any other header was not issued here.
      if (head !== header) {
        const reason = `was not issued by this server${algorithmIn(head, key.algorithm.name)}`;
        return { reason };
      }
      const raw = Buffer.from(signature, 'base64url');
      // The decoder ignores stray characters, but a token with such characters is not the issued
      // one.
      const isExact = raw.toString('base64url') === signature;
      if (!isExact || !key.verifies(`${head}.${payload}`, raw)) {
        return { reason: 'has a signature that does not verify' };
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

/** Says that a token has another algorithm than this server's, as the continuation of a sentence. */
function algorithmIn(head: string | undefined, serverAlgorithm: string): string {
  const header = parsedJson(Buffer.from(head ?? '', 'base64url').toString());
  const { alg } = isObject(header) ? header : {};
  if (typeof alg !== 'string' || alg === serverAlgorithm) return '';
  const algorithmText = `its alg is "${printable(alg, ALGORITHM_MAX_CHARACTERS)}"`;
  return `: ${alg === 'none' ? 'it is not signed, as ' : ''}${algorithmText}, and that of this server "${serverAlgorithm}"`;
}

const ALGORITHM_MAX_CHARACTERS = 20;

function claimsOf(payload: string): ReadClaims | InvalidToken {
  const claims = v.safeParse(
    payloadShape,
    JSON.parse(Buffer.from(payload, 'base64url').toString()),
  );
  if (!claims.success) return { reason: 'lacks claims' };
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

/** A JWT signature algorithm of RFC 7518 or RFC 8037; `name` is its value in the header's `alg`. */
export interface TokenAlgorithm {
  readonly name: 'EdDSA' | 'RS256';
  /** The digest's name in node:crypto; null when the algorithm hashes internally. */
  readonly digest: 'sha256' | null;
  readonly makeKey: (random: Random) => KeyObject | Promise<KeyObject>;
}

/** PKCS#8 wrapping of a raw Ed25519 seed (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const RSA_MODULUS_BITS = 2048;

export const tokenAlgorithms: Readonly<Record<'EdDSA' | 'RS256', TokenAlgorithm>> = {
  EdDSA: {
    name: 'EdDSA',
    digest: null,
    makeKey: (random) => {
      const der = Buffer.concat([pkcs8Prefix, random.bytes(32)]);
      return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    },
  },
  RS256: {
    name: 'RS256',
    digest: 'sha256',
    makeKey: () => freshRsaKey(RSA_MODULUS_BITS),
  },
};

/** Signs and verifies with one key. */
export interface TokenKey {
  readonly algorithm: TokenAlgorithm;
  sign(text: string): Buffer;
  verifies(text: string, signature: Buffer): boolean;
}

/** Returns a token key for a private key created by the algorithm's `makeKey`. */
export function tokenKeyOf(algorithm: TokenAlgorithm, privateKey: KeyObject): TokenKey {
  const publicKey = createPublicKey(privateKey);
  const { digest } = algorithm;
  return {
    algorithm,
    sign: (text) => sign(digest, Buffer.from(text), privateKey),
    verifies: (text, signature) => verify(digest, Buffer.from(text), publicKey, signature),
  };
}
