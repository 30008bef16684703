/**
 * The key of one device: derived from the fleet's seed whenever it is needed, or held in memory.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import type { Random } from '../../fixtures/random.ts';
import { type KeyTypeRow, keyTypeRows } from './key-types.ts';

/** A device's key, ready to sign. */
export interface DeviceKey {
  readonly keyType: KeyType;
  readonly privateKey: KeyObject;
  /** The public key as SubjectPublicKeyInfo in PEM. */
  readonly publicKeyPem: string;
}

/**
 * Returns the key of device `index`; the same for the same seed, in every run and process. It uses
 * almost no memory per device: the private key, 2 to 3 KB, is derived for each signature.
 * @param random the fleet's generator, made from its seed
 * @param keyType a type whose keys can be derived; those of a pool are held
 * @param generation 0 for the initial key, 1 for the one after the first key change, and so on
 */
export function deviceKey(
  random: Random,
  index: number,
  keyType: KeyType,
  generation = 0,
): DeviceKey {
  const { derive } = keyTypeRows[keyType];
  if (derive === undefined) throw new RangeError(`${keyType} keys are not made from a seed`);
  const first = `device/${index}/key/${keyType}`;
  const stream = generation === 0 ? first : `${first}/${generation}`;
  return new DerivedKey(keyType, { random, stream, derive });
}

/** Returns a key held in memory, such as one of a pool or of a file; devices may share it. */
export function heldKey(keyType: KeyType, privateKey: KeyObject): DeviceKey {
  return { keyType, privateKey, publicKeyPem: publicPemOf(privateKey) };
}

interface Origin {
  readonly random: Random;
  readonly stream: string;
  readonly derive: NonNullable<KeyTypeRow['derive']>;
}

class DerivedKey implements DeviceKey {
  readonly keyType: KeyType;
  readonly #origin: Origin;
  #publicKeyPem: string | undefined;

  constructor(keyType: KeyType, origin: Origin) {
    this.keyType = keyType;
    this.#origin = origin;
  }

  get privateKey(): KeyObject {
    const { random, stream, derive } = this.#origin;
    return derive(random.stream(stream));
  }

  get publicKeyPem(): string {
    this.#publicKeyPem ??= publicPemOf(this.privateKey);
    return this.#publicKeyPem;
  }
}

function publicPemOf(privateKey: KeyObject): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
}
