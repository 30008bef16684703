/** The key of one device: either derived from the fleet's seed at each use, or stored in memory. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Random } from '../../fixtures/base/random.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { type KeyTypeRow, keyTypeRows } from './key-types.ts';

/** A private key with its type and its public key. */
export interface DeviceKey {
  readonly keyType: KeyType;
  readonly privateKey: KeyObject;
  /** The public key as SubjectPublicKeyInfo in PEM. */
  readonly publicKeyPem: string;
}

/**
 * Returns the key of device `index`. The same seed gives the same key in every run and process. The
 * key takes almost no memory, because the private key of 2 to 3 KB is derived at each signature.
 * @param random the fleet's generator, made from its seed
 * @param keyType a key type whose row has `derive`; RSA keys come from a pool instead
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

/** Returns a key that stays in memory, from a pool or from a file. Devices may share it. */
export function heldKey(keyType: KeyType, privateKey: KeyObject): DeviceKey {
  return { keyType, privateKey, publicKeyPem: publicPemOf(privateKey) };
}

interface KeyOrigin {
  readonly random: Random;
  readonly stream: string;
  readonly derive: NonNullable<KeyTypeRow['derive']>;
}

class DerivedKey implements DeviceKey {
  readonly keyType: KeyType;
  readonly #origin: KeyOrigin;
  #publicKeyPem: string | undefined;

  constructor(keyType: KeyType, origin: KeyOrigin) {
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
