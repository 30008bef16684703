/** Who a device is: identity data from the fleet's seed and the device's index. Spec: AuthRequest */
import type { Random } from '../../fixtures/random.ts';

/** What a device says that it is; the values that `id_data` holds. */
export type IdentityData = {
  /** A locally administered address, unlike that of any other device of the fleet. */
  readonly mac: string;
  readonly serial: string;
  readonly sku: string;
};

/** What a device says that it is, where the user decides it. */
export type IdData = Readonly<Record<string, string | number | boolean>>;

const skus = ['gateway-s', 'gateway-m', 'gateway-l', 'panel-7', 'panel-10', 'meter-3p'] as const;

/**
 * The identity data of device `index`, the same for every fleet of the same seed.
 * @param random the fleet's chance, made from its seed
 * @param idPrefix what the serial number begins with
 */
export function identityData(random: Random, index: number, idPrefix: string): IdentityData {
  const chance = random.stream(`device/${index}/identity`);
  const serial = `${idPrefix}-${chance.bytes(5).toString('hex').toUpperCase()}`;
  const sku = skus[chance.integer(0, skus.length - 1)] ?? skus[0];
  return { mac: macAddress(random, index), serial, sku };
}

/** The text of `id_data`. */
export function idDataOf(data: IdData): string {
  return JSON.stringify(data);
}

/**
 * Identity data in one spelling, whatever the order of its members, for finding a device among
 * those that a server lists.
 */
export function identityKey(data: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(members);
}

/** Bit 1 of the first byte marks an address that no manufacturer has given out. */
const LOCALLY_ADMINISTERED = 0x02;

/** Half of the address tells fleets apart, the other half devices: no two of a fleet are alike. */
function macAddress(random: Random, index: number): string {
  const address = Buffer.alloc(6);
  address.writeUInt8(LOCALLY_ADMINISTERED, 0);
  random.stream('mac').bytes(2).copy(address, 1);
  address.writeUIntBE(index, 3, 3);
  return address.toString('hex').replace(/..(?!$)/g, '$&:');
}

/** What a device's id_data is made from. */
export interface IdDataFacts {
  readonly index: number;
  readonly identity: IdentityData;
  /** The fleet's chance, made from its seed. */
  readonly random: Random;
}

/** Gives every device what its id_data says. */
export type IdDataOf = (facts: IdDataFacts) => IdData;
