/**
 * Derives a device's identity data from the fleet's seed and the device's index.
 * Spec: AuthRequest
 */
import type { Random } from '../../fixtures/base/random.ts';

/** Generated identity data, which are also the default contents of `id_data`. */
export type IdentityData = {
  /** A locally administered MAC address, unique within the fleet. */
  readonly mac: string;
  readonly serial: string;
  readonly sku: string;
};

/** Contents of an `id_data` that the user may override. */
export type IdData = Readonly<Record<string, string | number | boolean>>;

const skus = ['gateway-s', 'gateway-m', 'gateway-l', 'panel-7', 'panel-10', 'meter-3p'] as const;

/**
 * Returns the identity data of device `index`. Fleets with the same seed have the same identity
 * data.
 * @param random the fleet's generator, made from its seed
 * @param idPrefix prefix of the serial number
 */
export function identityData(random: Random, index: number, idPrefix: string): IdentityData {
  const chance = random.stream(`device/${index}/identity`);
  const serial = `${idPrefix}-${chance.bytes(5).toString('hex').toUpperCase()}`;
  const sku = chance.pick(skus);
  return { mac: macAddress(random, index), serial, sku };
}

/** Returns the `id_data` as JSON text. */
export function idDataOf(data: IdData): string {
  return JSON.stringify(data);
}

/**
 * Returns identity data in a canonical format that does not depend on the order of members. It is
 * used to find a device in the server's list.
 */
export function identityKey(data: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(members);
}

/** Bit 1 of the first byte marks an address that no manufacturer has assigned. */
const LOCALLY_ADMINISTERED = 0x02;

/**
 * Returns a MAC address. Two bytes identify the fleet and three the device, so that no two devices
 * of a fleet have the same address.
 */
function macAddress(random: Random, index: number): string {
  const address = Buffer.alloc(6);
  address.writeUInt8(LOCALLY_ADMINISTERED, 0);
  random.stream('mac').bytes(2).copy(address, 1);
  address.writeUIntBE(index, 3, 3);
  return address.toString('hex').replace(/..(?!$)/g, '$&:');
}

/** The facts about a device from which its `id_data` is built. */
export interface IdDataFacts {
  readonly index: number;
  readonly identity: IdentityData;
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
}

/** Function that returns the `id_data` of a device. */
export type IdDataOf = (facts: IdDataFacts) => IdData;
