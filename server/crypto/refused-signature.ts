/** What the mistake behind a refused key or signature can be found from, kept until somebody asks. */
import type { PublicKey } from './public-key.ts';

/** A key of another device, by the name that people know the device by. */
export interface DeviceKey {
  readonly device: string;
  readonly key: PublicKey;
}

/** How many keys of other devices are tried. */
export const OTHER_KEYS_MAX = 100;

/** A signature, and what it may be by. */
export interface SignatureFacts {
  /** The body exactly as sent. */
  readonly body: Buffer;
  /** The key that the signature should fit. */
  readonly key: PublicKey;
  /** As it stood in the header. */
  readonly signatureText: string;
  /** Keys of other devices; at most `OTHER_KEYS_MAX` are looked at. */
  readonly otherKeys?: Iterable<DeviceKey>;
}

/** A request whose signature was refused; private, so that it is in no JSON of what holds it. */
export class RefusedSignature {
  readonly #facts: SignatureFacts;

  constructor(facts: SignatureFacts) {
    this.#facts = facts;
  }

  get facts(): SignatureFacts {
    return this.#facts;
  }
}

/** A text that was sent as a public key and is none; it may be a private one. */
export class RefusedKey {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }
}
