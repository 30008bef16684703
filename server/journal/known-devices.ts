/** A device by name: its id, the text of its identity, or a value in it. */
import { nearestOf } from '../../fixtures/nearest.ts';
import { jsonObject } from './facts.ts';

/** Names that a misspelt one is compared with. */
const COMPARED_MAX = 2000;
/** Devices with the same identity value, to be distinguished by their ids. */
const NAMESAKES_MAX = 5;

interface KnownDevice {
  readonly id: string;
  /** Identity data as canonical JSON text. */
  readonly identity: string;
}

/** The part of a store that finds devices. */
export interface Devices {
  readonly devices: {
    find(id: string): KnownDevice | undefined;
    findByIdentity(identity: string): KnownDevice | undefined;
    portions(filter: {
      readonly identityHas?: readonly string[];
    }): Iterable<readonly KnownDevice[]>;
  };
}

/** The devices that a name matches: one, several with the value, or none, with the nearest names. */
export type NamedDevice =
  | KnownDevice
  | { readonly several: readonly string[] }
  | { readonly nearest: readonly string[] };

/** The device that is meant. */
export function deviceNamed({ devices }: Devices, wanted: string): NamedDevice {
  const known = devices.find(wanted) ?? devices.findByIdentity(wanted);
  if (known) return known;
  const same: KnownDevice[] = [];
  // As written in a canonical identity, as a string and as any other value.
  for (const some of devices.portions({
    identityHas: [`:${JSON.stringify(wanted)}`, `:${wanted}`],
  })) {
    same.push(...some.filter(({ identity }) => identityValues(identity).includes(wanted)));
    if (same.length > NAMESAKES_MAX) break;
  }
  const [first, second] = same;
  if (first && !second) return first;
  if (first) return { several: same.slice(0, NAMESAKES_MAX).map(({ id }) => id) };
  return { nearest: nearestOf(wanted, namesIn(devices)) };
}

/** Returns a sentence that says why a name does not match exactly one device. */
export function notOneDevice(named: NamedDevice, ifNone: string): string {
  if ('several' in named) {
    return `matches several devices; use an id: ${named.several.join(', ')}`;
  }
  const nearest = 'nearest' in named ? named.nearest : [];
  const hint = nearest.length === 0 ? ifNone : `nearest: ${nearest.join(', ')}`;
  return `no device has this id or identity value; ${hint}`;
}

function namesIn(devices: Devices['devices']): string[] {
  const names: string[] = [];
  for (const some of devices.portions({})) {
    for (const { id, identity } of some) names.push(id, ...identityValues(identity));
    if (names.length >= COMPARED_MAX) break;
  }
  return names;
}

/** The values of an identity's members, as text. */
function identityValues(identity: string): string[] {
  return Object.values(jsonObject(identity)).map((value) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  );
}
