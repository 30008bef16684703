/** The identities of a fleet: the data that each device sends, and the key with which it signs. */
import type { Random } from '../../fixtures/base/random.ts';
import { idDataSource, requireDistinct } from './id-data.ts';
import type { IdDataOf } from './identity.ts';
import { type IdData, type IdentityData, identityData } from './identity.ts';
import { Keyring } from './keyring.ts';
import type { RsaBits } from './rsa-makers.ts';
import type { KeyProgress } from './rsa-pool.ts';

/** The identity options of a plan. */
export interface IdentityPlan {
  readonly devices: number;
  /** Prefix of every serial number. */
  readonly idPrefix?: string | undefined;
  /** Template of each device's id_data, with placeholders such as `{index}`. */
  readonly idData?: string | undefined;
  /** CSV file with the id_data of each device. */
  readonly idDataFile?: string | undefined;
  /** The pool of RSA keys that devices share. */
  readonly rsaPool?:
    | {
        readonly size?: number | undefined;
        readonly bits?: RsaBits | undefined;
        readonly folder?: string | undefined;
      }
    | undefined;
  /** Folder with the user's own keys. */
  readonly keyFolder?: string | undefined;
}

/** The identity of one device. */
export interface DeviceIdentity {
  /** Identity data in the inventory of the device. */
  readonly identity: IdentityData;
  /** Members of the `id_data` with which the device authenticates. */
  readonly idData: IdData;
}

/** Random generator of the fleet, and the callback for progress in creating keys. */
interface IdentityDependencies {
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
  readonly onKeys?: ((progress: KeyProgress) => void) | undefined;
}

const DEFAULT_ID_PREFIX = 'FB';
const POOL_SIZE = 64;
const POOL_BITS = 2048;

/** The identities of a fleet, by device index. The owner must close it. */
export class Identities {
  readonly #plan: IdentityPlan;
  readonly #random: Random;
  readonly #idDataOf: IdDataOf | undefined;
  readonly keyring: Keyring;

  private constructor(
    plan: IdentityPlan,
    parts: { readonly random: Random; idDataOf: IdDataOf | undefined; keyring: Keyring },
  ) {
    this.#plan = plan;
    this.#random = parts.random;
    this.#idDataOf = parts.idDataOf;
    this.keyring = parts.keyring;
  }

  /**
   * Reads the template, CSV file and key folder that the plan names.
   * @throws IdentityError when any of them is wrong, or two devices would have the same `id_data`
   */
  static async open(plan: IdentityPlan, dependencies: IdentityDependencies): Promise<Identities> {
    const { random, onKeys: onProgress } = dependencies;
    const { devices, idData: template, idDataFile: csvFile, keyFolder } = plan;
    const idDataOf = await idDataSource({ template, csvFile }, devices);
    const { size = POOL_SIZE, bits = POOL_BITS, folder } = plan.rsaPool ?? {};
    const rsaPool = { size, bits, folder };
    const keyring = await Keyring.open({ random, rsaPool, keyFolder, onProgress });
    const identities = new Identities(plan, { random, idDataOf, keyring });
    if (idDataOf) requireDistinct(identities.#all());
    return identities;
  }

  /** Returns the identity of device `index`, which is the same in every run and process. */
  of(index: number): DeviceIdentity {
    const identity = identityData(this.#random, index, this.#plan.idPrefix ?? DEFAULT_ID_PREFIX);
    if (this.#idDataOf === undefined) return { identity, idData: identity };
    const idData = this.#idDataOf({ index, identity, random: this.#random });
    return { identity: { ...identity, ...ownNames(idData) }, idData };
  }

  close(): void {
    this.keyring.close();
  }

  *#all(): Generator<IdData> {
    for (let index = 0; index < this.#plan.devices; index++) yield this.of(index).idData;
  }
}

/**
 * Returns the values of `mac`, `serial` and `sku` in an overridden `id_data`, which replace the
 * generated ones.
 */
function ownNames(idData: IdData): Partial<IdentityData> {
  const names = (['mac', 'serial', 'sku'] as const).flatMap((name) => {
    const value = idData[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(names);
}
