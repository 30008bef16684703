/** Device keys of one run. */
import type { Random } from '../../fixtures/base/random.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { signingAlgorithms } from '../signing/algorithms.ts';
import type { SigningKey } from '../signing/signing-key.ts';

/**
 * Creates device keys. The devices of a run share keys that are slow to create, and are then
 * distinguished by their identities.
 */
export class Keyring {
  readonly #shared = new Map<KeyType, SigningKey | Promise<SigningKey>>();

  /** Returns a key of this type: a new one determined by `random`, or the run's shared one. */
  keyFor(keyType: KeyType, random: Random): SigningKey | Promise<SigningKey> {
    const { keyIsShared, makeKey } = signingAlgorithms[keyType];
    if (!keyIsShared) return makeKey(random);
    const key = this.#shared.get(keyType) ?? makeKey(random);
    this.#shared.set(keyType, key);
    return key;
  }
}
