/** The interface of device keys, independent of the algorithm. */
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';

/** Signs a body; returns the raw signature, before Base64. */
export type Sign = (body: Buffer) => Buffer;

/** One device key that can sign authentication requests. */
export interface SigningKey {
  readonly keyType: KeyType;
  /** SubjectPublicKeyInfo in PEM, block type PUBLIC KEY. */
  readonly publicKeyPem: string;
  /** Signs in the form that the contract requires, with the first of `signers`. */
  readonly sign: Sign;
  /** Independent implementations of the same signature, by the name of the library. */
  readonly signers: Readonly<Record<string, Sign>>;
  /** Signatures by this key that each violate the contract in one point. */
  readonly invalidSignatures: InvalidSignatures;
}

/** Wrong signatures by a description of what is wrong, grouped by column of the contract's table. */
export interface InvalidSignatures {
  /** Signatures over a wrong digest. */
  readonly digest: Readonly<Record<string, Sign>>;
  /** Signatures over the right digest, in a wrong format or by a wrong standard. */
  readonly encoding: Readonly<Record<string, Sign>>;
}
