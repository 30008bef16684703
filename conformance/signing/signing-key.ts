/** What the suite asks of a device key, whatever its algorithm. */
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';

/** Makes a signature over a body, not yet in Base64. */
export type Sign = (body: Buffer) => Buffer;

/** One device key that can sign authentication requests. */
export interface SigningKey {
  readonly keyType: KeyType;
  /** SubjectPublicKeyInfo in PEM, block type PUBLIC KEY. */
  readonly publicKeyPem: string;
  /** The signature in the form of the contract, by the first of the signers. */
  readonly sign: Sign;
  /** The same by implementations that share no code, by their names. */
  readonly signers: Readonly<Record<string, Sign>>;
  /** Signatures by the same key that differ in one point from the contract. */
  readonly wrongForms: WrongForms;
}

/** Wrong signatures by what is wrong, apart by the column of the contract's table that they miss. */
export interface WrongForms {
  /** Over something other than the digest that the algorithm asks for. */
  readonly digest: Readonly<Record<string, Sign>>;
  /** Over the right digest, in another form or by another standard. */
  readonly form: Readonly<Record<string, Sign>>;
}
