/** Evidence for a later diagnosis of a refused key or signature. */
import type { PublicKey } from './public-key.ts';

/** The public key of another device, with that device's display name. */
export interface NamedDeviceKey {
  readonly device: string;
  readonly key: PublicKey;
}

/** Maximum number of keys of other devices that the diagnosis tries. */
export const OTHER_KEYS_MAX = 100;

/** A signature, with the facts that the diagnosis compares it with. */
export interface SignatureFacts {
  /** The request body exactly as sent. */
  readonly body: Buffer;
  /** The key that the signature should match. */
  readonly key: PublicKey;
  /** The value of the signature header. */
  readonly signatureText: string;
  /** Keys of other devices; at most `OTHER_KEYS_MAX` are tried. */
  readonly otherKeys?: Iterable<NamedDeviceKey>;
}

/**
 * Facts about a request with a refused signature. The private field keeps them out of JSON output.
 */
export class RefusedSignature {
  readonly #facts: SignatureFacts;

  constructor(facts: SignatureFacts) {
    this.#facts = facts;
  }

  get facts(): SignatureFacts {
    return this.#facts;
  }
}

/**
 * A string that was sent as a public key and refused. It may be a private key, so the private field
 * keeps it out of JSON output.
 */
export class RefusedKey {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }
}
