/** The key algorithms of the contract as a table. Spec: Device authentication */
import type { Random } from '../../fixtures/base/random.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { makeEcdsaKey } from './ecdsa.ts';
import { makeEd25519Key } from './ed25519.ts';
import { makeRsaKey } from './rsa.ts';
import type { SigningKey } from './signing-key.ts';

/**
 * One algorithm: the signed data, the encoding of the signature, its standard and the libraries.
 */
export interface SigningAlgorithm {
  readonly digest: string;
  readonly signatureEncoding: string;
  readonly standard: string;
  readonly signedBy: readonly [string, string];
  /** True if key generation is so slow that the devices of a run share one key. */
  readonly keyIsShared: boolean;
  /** Creates a key, derived from `random` if the algorithm supports that. */
  readonly makeKey: (random: Random) => SigningKey | Promise<SigningKey>;
}

/** Every algorithm by the contract's name for it. */
export const signingAlgorithms: Readonly<Record<KeyType, SigningAlgorithm>> = {
  rsa: {
    digest: 'SHA-256 of the body',
    signatureEncoding: 'PKCS #1 version 1.5',
    standard: 'RFC 2313',
    signedBy: ['node-forge', 'node:crypto'],
    keyIsShared: true,
    makeKey: makeRsaKey,
  },
  ecdsa: {
    digest: 'SHA-256 of the body',
    signatureEncoding: 'ASN.1 sequence of R and S',
    standard: 'ANSI X9.62',
    signedBy: ['node:crypto', '@noble/curves'],
    keyIsShared: false,
    makeKey: makeEcdsaKey,
  },
  ed25519: {
    digest: 'none: the body itself',
    signatureEncoding: '64 bytes',
    standard: 'RFC 8032',
    signedBy: ['tweetnacl', 'node:crypto'],
    keyIsShared: false,
    makeKey: makeEd25519Key,
  },
};
