/** A device by name: its id, the text of its identity, or a value in it. */
import { nearestOf } from '../../../fixtures/nearest.ts';
import { jsonObject } from './facts.ts';

const PER_PAGE = 500;
/** Devices that a misspelt name is compared with. */
const COMPARED_MAX = 2000;

interface KnownDevice {
  readonly id: string;
  /** JSON text. */
  readonly identity: string;
}

/** The part of a store that finds devices. */
export interface Devices {
  readonly devices: {
    find(id: string): KnownDevice | undefined;
    findByIdentity(identity: string): KnownDevice | undefined;
    list(filter: object, page: { page: number; perPage: number }): readonly KnownDevice[];
  };
}

/** The device that is meant, or the names that are nearest to it. */
export function deviceNamed(
  { devices }: Devices,
  wanted: string,
): KnownDevice | { readonly nearest: readonly string[] } {
  const known = devices.find(wanted) ?? devices.findByIdentity(wanted);
  if (known) return known;
  const names: string[] = [];
  // As it stands in the JSON text of an identity that has it.
  const written = JSON.stringify(wanted).slice(1, -1);
  for (let page = 1; ; page += 1) {
    const some = devices.list({}, { page, perPage: PER_PAGE });
    for (const device of some) {
      const isCompared = names.length < COMPARED_MAX;
      if (!isCompared && !device.identity.includes(written)) continue;
      const own = identityValues(device.identity);
      if (own.includes(wanted)) return device;
      if (isCompared) names.push(device.id, ...own);
    }
    if (some.length < PER_PAGE) return { nearest: nearestOf(wanted, names) };
  }
}

/** The values of an identity's members, as text. */
function identityValues(identity: string): string[] {
  return Object.values(jsonObject(identity)).map((value) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  );
}
