/**
 * Signatures of devices: a table of algorithms, and verification of a signature over the exact
 * bytes that were sent.
 * Spec: Device authentication
 */
import { constants, type KeyObject, verify } from 'node:crypto';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';

interface KeyAlgorithm {
  readonly keyType: KeyType;
  /** Returns true when the key is for this algorithm. */
  readonly detects: (key: KeyObject) => boolean;
  /** Returns why a key of this algorithm is refused, or undefined for an accepted key. */
  readonly unfit?: (key: KeyObject) => string | undefined;
  /** Returns true when `signature` was made with this key over exactly the bytes of `signed`. */
  readonly verifies: (signed: Uint8Array, key: KeyObject, signature: Uint8Array) => boolean;
}

/** Shorter keys can be broken; longer keys make verification too expensive. */
const RSA_MODULUS_BITS = { min: 1024, max: 8192 };
/**
 * Verification time grows with the bits of the exponent; an exponent of 3,072 bits makes it as slow
 * as signing.
 */
const RSA_EXPONENT_MAX_BITS = 64;

export const keyAlgorithms: readonly KeyAlgorithm[] = [
  {
    // RFC 8017, 8.2: RSASSA-PKCS1-v1_5 with SHA-256.
    keyType: 'rsa',
    detects: (key) => key.asymmetricKeyType === 'rsa',
    unfit: (key) => {
      const { modulusLength: bits = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
      const { min, max } = RSA_MODULUS_BITS;
      if (bits < min || bits > max) return `is an RSA key of ${bits} bits; use ${min} to ${max}`;
      const exponentBits = publicExponent.toString(2).length;
      return exponentBits > RSA_EXPONENT_MAX_BITS
        ? `is an RSA key with a public exponent of ${exponentBits} bits; use 65537`
        : undefined;
    },
    verifies: (signed, key, signature) =>
      verify('sha256', signed, { key, padding: constants.RSA_PKCS1_PADDING }, signature),
  },
  {
    // ANSI X9.62: ASN.1 SEQUENCE of R and S over SHA-256.
    keyType: 'ecdsa',
    detects: (key) =>
      key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1',
    verifies: (signed, key, signature) =>
      verify('sha256', signed, { key, dsaEncoding: 'der' }, signature),
  },
  {
    // RFC 8032: Ed25519 over the message itself; it is not hashed first.
    keyType: 'ed25519',
    detects: (key) => key.asymmetricKeyType === 'ed25519',
    verifies: (signed, key, signature) => verify(null, signed, key, signature),
  },
];

const standardBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Returns true when the header's value is a signature made with this key over exactly the bytes of
 * `signed`.
 */
export function verifySignature(
  signed: Uint8Array,
  { keyType, key }: { readonly keyType: KeyType; readonly key: KeyObject },
  signatureText: string,
): boolean {
  if (!standardBase64.test(signatureText)) return false;
  const algorithm = keyAlgorithms.find((row) => row.keyType === keyType);
  if (!algorithm) return false;
  try {
    return algorithm.verifies(signed, key, Buffer.from(signatureText, 'base64'));
  } catch {
    // OpenSSL throws when it cannot parse a signature; such a signature does not match.
    return false;
  }
}
