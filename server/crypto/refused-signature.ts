/**
 * Evidence for finding the mistake behind a refused key or signature, kept until it is requested.
 */
import type { PublicKey } from './public-key.ts';

/** A key of another device, with that device's display name. */
export interface DeviceKey {
  readonly device: string;
  readonly key: PublicKey;
}

/** Maximum number of other devices' keys that are tried. */
export const OTHER_KEYS_MAX = 100;

/** A signature, and the facts to compare it with. */
export interface SignatureFacts {
  /** The body exactly as sent. */
  readonly body: Buffer;
  /** The key that the signature should match. */
  readonly key: PublicKey;
  /** As written in the header. */
  readonly signatureText: string;
  /** Keys of other devices; at most `OTHER_KEYS_MAX` are tried. */
  readonly otherKeys?: Iterable<DeviceKey>;
}

/** A request whose signature was refused; private fields keep it out of any JSON. */
export class RefusedSignature {
  readonly #facts: SignatureFacts;

  constructor(facts: SignatureFacts) {
    this.#facts = facts;
  }

  get facts(): SignatureFacts {
    return this.#facts;
  }
}

/** A text that was sent as a public key and is not one; it may be a private key. */
export class RefusedKey {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }
}
