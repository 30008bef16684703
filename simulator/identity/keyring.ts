/**
 * The keys of a fleet's devices: derived from the seed, from the RSA pool, or from the user's own
 * files. With the same plan, device `index` has the same key in every process.
 */
import { createHash, createPublicKey } from 'node:crypto';
import type { Random } from '../../fixtures/base/random.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { FleetStopped } from '../network/errors.ts';
import { type KeyUse, type SharedKeys, sharedKeysOf } from '../result/shared-keys.ts';
import { type DeviceKey, deviceKey } from './device-key.ts';
import { keyTypeRows } from './key-types.ts';
import { readOwnKeys } from './own-keys.ts';
import type { RsaBits } from './rsa-makers.ts';
import { type KeyProgress, RsaPool } from './rsa-pool.ts';

/** The random generator and the key options of a plan. */
export interface KeyringOptions {
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
  readonly rsaPool: {
    readonly size: number;
    readonly bits: RsaBits;
    readonly folder?: string | undefined;
  };
  /** Folder with the user's own keys; when set, no other keys are used. */
  readonly keyFolder?: string | undefined;
  /** Called when an RSA key is found missing, and again when it has been created. */
  readonly onProgress?: ((progress: KeyProgress) => void) | undefined;
}

/** A device for which a key is needed. */
interface KeyOwner {
  readonly index: number;
  readonly keyType: KeyType;
}

/** The keys of a fleet. The owner must close it. */
export class Keyring {
  readonly #random: Random;
  readonly #pool: RsaPool;
  readonly #own: readonly DeviceKey[] | undefined;

  private constructor(options: KeyringOptions, own: readonly DeviceKey[] | undefined) {
    this.#random = options.random;
    this.#pool = new RsaPool({ ...options.rsaPool, onProgress: options.onProgress });
    this.#own = own;
  }

  /**
   * Reads the user's own keys, if the plan names a folder.
   * @throws IdentityError when the user's own keys cannot be used
   */
  static async open(options: KeyringOptions): Promise<Keyring> {
    const { keyFolder } = options;
    return new Keyring(options, keyFolder === undefined ? undefined : await readOwnKeys(keyFolder));
  }

  /**
   * Returns the key type of the user's own key for a device; undefined when the plan has no key
   * folder.
   */
  ownKeyType(index: number): KeyType | undefined {
    return this.#own?.[index % this.#own.length]?.keyType;
  }

  /**
   * Returns a key of a device.
   * @param generation 0 for the first key, 1 after the first key change, and so on; with shared
   *   keys it selects the next key of the pool
   * @throws IdentityError when the pool cannot be used; FleetStopped
   */
  async keyFor({ index, keyType }: KeyOwner, generation = 0): Promise<DeviceKey> {
    const ownKey = this.#own?.[(index + generation) % this.#own.length];
    if (ownKey !== undefined) return ownKey;
    if (keyTypeRows[keyType].derive) return deviceKey(this.#random, index, keyType, generation);
    return this.#pool.key((index + generation) % this.#pool.size);
  }

  /**
   * Creates the missing initial keys of these devices.
   * @throws the errors of `keyFor`
   */
  async prepare(devices: readonly KeyOwner[]): Promise<void> {
    await Promise.all(this.#sharers(devices).map(({ position }) => this.#shared(position)));
  }

  /**
   * Returns the keys that these devices share; undefined when every device has its own key. Keys
   * that an interrupted run had not yet created are omitted.
   */
  async sharedKeys(devices: readonly KeyOwner[]): Promise<SharedKeys | undefined> {
    const uses: KeyUse[] = [];
    for (const { position, sharers } of this.#sharers(devices)) {
      const key = await unlessStopped(this.#shared(position));
      if (key) uses.push({ position, fingerprint: fingerprintOf(key), devices: sharers });
    }
    if (uses.length === 0) return undefined;
    const { size, bits } = this.#pool;
    if (this.#own) return sharedKeysOf({ source: 'key-folder', size: this.#own.length }, uses);
    return sharedKeysOf({ source: 'rsa-pool', size, bits }, uses);
  }

  close(): void {
    this.#pool.close();
  }

  /**
   * Returns the positions of the shared keys that are in use, in order, with the number of devices.
   */
  #sharers(devices: readonly KeyOwner[]) {
    const size = this.#own?.length ?? this.#pool.size;
    const sharers = new Map<number, number>();
    for (const { index, keyType } of devices) {
      if (this.#own === undefined && keyTypeRows[keyType].derive) continue;
      sharers.set(index % size, (sharers.get(index % size) ?? 0) + 1);
    }
    return [...sharers]
      .map(([position, count]) => ({ position, sharers: count }))
      .sort((one, other) => one.position - other.position);
  }

  #shared(position: number): DeviceKey | Promise<DeviceKey> {
    return this.#own?.[position] ?? this.#pool.key(position);
  }
}

async function unlessStopped(key: DeviceKey | Promise<DeviceKey>): Promise<DeviceKey | undefined> {
  try {
    return await key;
  } catch (error) {
    if (error instanceof FleetStopped) return undefined;
    throw error;
  }
}

function fingerprintOf({ publicKeyPem }: DeviceKey): string {
  const der = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex');
}
