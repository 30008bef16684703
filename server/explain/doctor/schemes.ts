/** The checks of a signature, a row for each key type. Spec: Device authentication */
import { constants, createHash, type KeyObject, publicDecrypt, verify } from 'node:crypto';
import { ed25519ph } from '@noble/curves/ed25519.js';
import type { KeyType } from '../../../fixtures/contract/vocabulary.ts';
import { pairInSequence, signsNumber } from './p256.ts';
import { type PssDigests, signsByPss } from './pss.ts';

/** Digests that clients take for SHA-256. */
export type DigestName = 'sha1' | 'sha256' | 'sha384' | 'sha512';

/** One signature under one key. Each question is answered no where it has no meaning. */
export interface OpenSignature {
  /** Is it the contract's signature over this message, or the same with another digest? */
  signs(message: Buffer, digest?: DigestName): boolean;
  /** Is it made from these bytes with no digest in between? */
  signsPlainly(bytes: Buffer): boolean;
  /** Whether an RSA signature is one of PSS. */
  signsByPss(message: Buffer, digests: PssDigests): boolean;
  /** Whether an Ed25519 signature is one of Ed25519ph, over the digest of the message. */
  signsPrehashed(message: Buffer): boolean;
}

const never = (): boolean => false;

/** Bytes that cannot be a signature of the key's type. */
export const unopenedSignature: OpenSignature = {
  signs: never,
  signsPlainly: never,
  signsByPss: never,
  signsPrehashed: never,
};

/** Opens a signature in the key type's form; `undefined` for bytes that cannot be one. */
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
    if (signature.length !== 64) return undefined;
    return {
      ...unopenedSignature,
      signs: (message, digest) => digest === undefined && verify(null, message, key, signature),
      signsPrehashed: (message) => signsPrehashed(message, key, signature),
    };
  },
};

/** Ed25519ph without a context, which node:crypto of Node 20 lacks. RFC 8032, section 5.1 */
function signsPrehashed(message: Buffer, key: KeyObject, signature: Buffer): boolean {
  const { x = '' } = key.export({ format: 'jwk' });
  return ed25519ph.verify(signature, message, Buffer.from(x, 'base64url'), { zip215: false });
}

/** DigestInfo of PKCS#1 up to the digest itself. */
const digestInfoStarts: Readonly<Record<DigestName, string>> = {
  sha1: '3021300906052b0e03021a05000414',
  sha256: '3031300d060960864801650304020105000420',
  sha384: '3041300d060960864801650304020205000430',
  sha512: '3051300d060960864801650304020305000440',
};

function digestInfo(message: Buffer, digest: DigestName): Buffer {
  return namedDigest(createHash(digest).update(message).digest(), digest);
}

/** A DigestInfo with these bytes as the digest. */
export function namedDigest(bytes: Buffer, digest: DigestName = 'sha256'): Buffer {
  return Buffer.concat([Buffer.from(digestInfoStarts[digest], 'hex'), bytes]);
}

/** What PKCS#1 v1.5 padded, when it did. */
export function paddedContent(key: KeyObject, signature: Buffer): Buffer | undefined {
  try {
    return publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
  } catch {
    // OpenSSL throws where the padding is another one, and for numbers beyond the modulus.
    return undefined;
  }
}
