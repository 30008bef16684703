/**
 * The table of a device's key types: how keys are created and how they sign. All differences
 * between key types are in this file.
 * Spec: POST /auth_requests
 */
import { createECDH, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Random } from '../../fixtures/base/random.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';

/** One key type: how its keys are created and how they sign. */
export interface KeyTypeRow {
  /**
   * Derives a private key from a random generator. Absent for keys that cannot be derived from a
   * seed, which come from a pool.
   */
  readonly derive?: (random: Random) => KeyObject;
  /** Digest before signing; `null` when the body itself is signed. */
  readonly digest: 'sha256' | null;
  /** Form of the signature and the standard that defines it, for display. */
  readonly signature: string;
}

/** Every key type by its name. */
export const keyTypeRows: Readonly<Record<KeyType, KeyTypeRow>> = {
  rsa: {
    digest: 'sha256',
    signature: 'PKCS#1 v1.5, RFC 2313',
  },
  ecdsa: {
    derive: (random) => p256Key(random.bytes(P256_SCALAR_SOURCE_BYTES)),
    digest: 'sha256',
    signature: 'ASN.1 SEQUENCE of R and S, ANSI X9.62',
  },
  ed25519: {
    derive: (random) => ed25519Key(random.bytes(ED25519_SEED_BYTES)),
    digest: null,
    signature: 'pure Ed25519, RFC 8032',
  },
};

/**
 * Returns the signature of the body, byte for byte, in standard base64, as sent in the signature
 * header.
 * Spec: POST /auth_requests
 */
export function signatureOf(body: Buffer, keyType: KeyType, privateKey: KeyObject): string {
  return sign(keyTypeRows[keyType].digest, body, privateKey).toString('base64');
}

const ED25519_SEED_BYTES = 32;

/**
 * Imports the key as JWK, which takes a ninth of the time that PKCS#8 takes. Node derives the key
 * from `d` alone and only requires that `x` is present.
 */
function ed25519Key(seed: Buffer): KeyObject {
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: seed.toString('base64url'), x: '' };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const P256_SCALAR_BYTES = 32;
/**
 * Number of random bytes for a scalar. Eight extra bytes make the bias of the remainder negligible
 * (FIPS 186-5, A.2.1).
 */
const P256_SCALAR_SOURCE_BYTES = P256_SCALAR_BYTES + 8;

function p256Key(source: Buffer): KeyObject {
  const scalar = (BigInt(`0x${source.toString('hex')}`) % (P256_ORDER - 1n)) + 1n;
  const secret = Buffer.from(scalar.toString(16).padStart(2 * P256_SCALAR_BYTES, '0'), 'hex');
  const point = p256Point(secret);
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    d: secret.toString('base64url'),
    x: point.subarray(1, 1 + P256_SCALAR_BYTES).toString('base64url'),
    y: point.subarray(1 + P256_SCALAR_BYTES).toString('base64url'),
  };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

/** Returns the uncompressed public point: the byte 4, then x and y with 32 bytes each. */
function p256Point(secret: Buffer): Buffer {
  const exchange = createECDH('prime256v1');
  exchange.setPrivateKey(secret);
  return exchange.getPublicKey();
}
