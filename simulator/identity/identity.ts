/**
 * Derives a device's identity data from the fleet's seed and the device's index.
 * Spec: AuthRequest
 */
import type { Random } from '../../fixtures/random.ts';

/** Generated identity data; the values in `id_data`. */
export type IdentityData = {
  /** A locally administered address, unique within the fleet. */
  readonly mac: string;
  readonly serial: string;
  readonly sku: string;
};

/** Identity data where the user overrides it. */
export type IdData = Readonly<Record<string, string | number | boolean>>;

const skus = ['gateway-s', 'gateway-m', 'gateway-l', 'panel-7', 'panel-10', 'meter-3p'] as const;

/**
 * Returns the identity data of device `index`, the same for every fleet of the same seed.
 * @param random the fleet's generator, made from its seed
 * @param idPrefix prefix of the serial number
 */
export function identityData(random: Random, index: number, idPrefix: string): IdentityData {
  const chance = random.stream(`device/${index}/identity`);
  const serial = `${idPrefix}-${chance.bytes(5).toString('hex').toUpperCase()}`;
  const sku = skus[chance.integer(0, skus.length - 1)] ?? skus[0];
  return { mac: macAddress(random, index), serial, sku };
}

/** Returns the text of `id_data`. */
export function idDataOf(data: IdData): string {
  return JSON.stringify(data);
}

/**
 * Returns identity data in a canonical form, independent of member order, for finding a device
 * among those that a server lists.
 */
export function identityKey(data: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(members);
}

/** Bit 1 of the first byte marks an address that is not assigned by a manufacturer. */
const LOCALLY_ADMINISTERED = 0x02;

/**
 * Half of the address identifies the fleet, the other half the device: no two of a fleet are alike.
 */
function macAddress(random: Random, index: number): string {
  const address = Buffer.alloc(6);
  address.writeUInt8(LOCALLY_ADMINISTERED, 0);
  random.stream('mac').bytes(2).copy(address, 1);
  address.writeUIntBE(index, 3, 3);
  return address.toString('hex').replace(/..(?!$)/g, '$&:');
}

/** What a device's id_data is built from. */
export interface IdDataFacts {
  readonly index: number;
  readonly identity: IdentityData;
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
}

/** Returns the id_data of a device. */
export type IdDataOf = (facts: IdDataFacts) => IdData;
