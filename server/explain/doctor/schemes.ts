/** Checks signatures, with a row for each key type. Spec: Device authentication */
import { constants, createHash, type KeyObject, publicDecrypt, verify } from 'node:crypto';
import { ed25519ph } from '@noble/curves/ed25519.js';
import type { KeyType } from '../../../fixtures/contract/vocabulary.ts';
import { pairInSequence, signsNumber } from './p256.ts';
import { type PssDigests, signsByPss } from './pss.ts';

/** Length of an Ed25519 signature. */
export const ED25519_BYTES = 64;
/** Length of a SHA-256 digest. */
export const DIGEST_BYTES = 32;

/** Digests that clients use instead of SHA-256, and SHA-256 itself. */
export type DigestName = 'sha1' | 'sha256' | 'sha384' | 'sha512';

/** A signature opened with one key. A method returns false if it does not apply to the key type. */
export interface OpenSignature {
  /**
   * Returns true if this is the contract's signature over the message, or that signature with
   * another digest.
   */
  signs(message: Buffer, digest?: DigestName): boolean;
  /** Returns true if the signature was made from these bytes without a digest. */
  signsPlainly(bytes: Buffer): boolean;
  /** Returns true if this is an RSA-PSS signature over the message. */
  signsByPss(message: Buffer, digests: PssDigests): boolean;
  /**
   * Returns true if this is an Ed25519ph signature, which is made over the digest of the message.
   */
  signsPrehashed(message: Buffer): boolean;
}

const never = (): boolean => false;

/** Stands in for bytes that cannot be a signature of the key's type. Every check returns false. */
export const unopenedSignature: OpenSignature = {
  signs: never,
  signsPlainly: never,
  signsByPss: never,
  signsPrehashed: never,
};

/** Opens a signature in the format of the key type; undefined for bytes that cannot be one. */
export const openSignature: Readonly<
  Record<KeyType, (key: KeyObject, signature: Buffer) => OpenSignature | undefined>
> = {
  rsa: (key, signature) => {
    const byPss = (message: Buffer, digests: PssDigests) =>
      signsByPss(message, digests, { key, signature });
    const modulusBytes = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
    if (signature.length !== modulusBytes) return undefined;
    const content = paddedContent(key, signature);
    if (!content) return { ...unopenedSignature, signsByPss: byPss };
    return {
      ...unopenedSignature,
      signs: (message, digest = 'sha256') => content.equals(digestInfo(message, digest)),
      signsPlainly: (bytes) => content.equals(bytes),
    };
  },
  ecdsa: (key, signature) => {
    const pair = pairInSequence(signature);
    return (
      pair && {
        ...unopenedSignature,
        signs: (message, digest = 'sha256') =>
          verify(digest, message, { key, dsaEncoding: 'der' }, signature),
        signsPlainly: (bytes) => signsNumber(bytes, key, pair),
      }
    );
  },
  ed25519: (key, signature) => {
    if (signature.length !== ED25519_BYTES) return undefined;
    return {
      ...unopenedSignature,
      signs: (message, digest) => digest === undefined && verify(null, message, key, signature),
      signsPrehashed: (message) => signsPrehashed(message, key, signature),
    };
  },
};

/**
 * Verifies Ed25519ph without a context, which node:crypto of Node 20 lacks. See RFC 8032, section
 * 5.1.
 */
function signsPrehashed(message: Buffer, key: KeyObject, signature: Buffer): boolean {
  const { x = '' } = key.export({ format: 'jwk' });
  return ed25519ph.verify(signature, message, Buffer.from(x, 'base64url'), { zip215: false });
}

/** The bytes of a PKCS#1 DigestInfo before the digest. */
const digestInfoStarts: Readonly<Record<DigestName, string>> = {
  sha1: '3021300906052b0e03021a05000414',
  sha256: '3031300d060960864801650304020105000420',
  sha384: '3041300d060960864801650304020205000430',
  sha512: '3051300d060960864801650304020305000440',
};

function digestInfo(message: Buffer, digest: DigestName): Buffer {
  return namedDigest(createHash(digest).update(message).digest(), digest);
}

/** Returns a DigestInfo with these bytes as the digest. */
export function namedDigest(bytes: Buffer, digest: DigestName = 'sha256'): Buffer {
  return Buffer.concat([Buffer.from(digestInfoStarts[digest], 'hex'), bytes]);
}

/** Returns the content that PKCS#1 v1.5 padded; undefined if the padding is different. */
export function paddedContent(key: KeyObject, signature: Buffer): Buffer | undefined {
  try {
    return publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
  } catch {
    // OpenSSL throws for another padding, and for numbers larger than the modulus.
    return undefined;
  }
}
