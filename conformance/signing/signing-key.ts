/** What the suite asks of a device key, whatever its algorithm. */
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';

/** One device key that can sign authentication requests. */
export interface SigningKey {
  readonly keyType: KeyType;
  /** SubjectPublicKeyInfo in PEM, block type PUBLIC KEY. */
  readonly publicKeyPem: string;
  /** The signature over `body` in the form of the contract, not yet in Base64. */
  readonly sign: (body: Buffer) => Buffer;
  /** Signatures by the same key in forms that the contract does not name, by what is wrong. */
  readonly wrongForms: Readonly<Record<string, (body: Buffer) => Buffer>>;
}
