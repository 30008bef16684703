/** Finds a device by its ID, the text of its identity, or a value in its identity. */
import { nearestOf } from '../../fixtures/base/nearest.ts';
import { jsonObject } from './derived-fields.ts';

/** Maximum number of names that a misspelt name is compared with. */
const COMPARED_MAX = 2000;
/** Maximum number of IDs that are listed for devices with the same identity value. */
const NAMESAKES_MAX = 5;

interface JournalDevice {
  readonly id: string;
  /** Identity data as canonical JSON text. */
  readonly identity: string;
}

/** The part of a store that finds devices. */
export interface Devices {
  readonly devices: {
    find(id: string): JournalDevice | undefined;
    findByIdentity(identity: string): JournalDevice | undefined;
    readBatches(filter: {
      readonly identityHas?: readonly string[];
    }): Iterable<readonly JournalDevice[]>;
  };
}

/**
 * The result of a search by name: one device, the IDs of several devices with the value, or similar
 * names.
 */
export type NamedDevice =
  | JournalDevice
  | { readonly several: readonly string[] }
  | { readonly nearest: readonly string[] };

/** Finds the device that a name means. */
export function findNamedDevice({ devices }: Devices, wanted: string): NamedDevice {
  const device = devices.find(wanted) ?? devices.findByIdentity(wanted);
  if (device) return device;
  const namesakes: JournalDevice[] = [];
  // A value in canonical JSON is either a string or any other value, so both spellings are
  // searched.
  for (const batch of devices.readBatches({
    identityHas: [`:${JSON.stringify(wanted)}`, `:${wanted}`],
  })) {
    namesakes.push(...batch.filter(({ identity }) => identityValues(identity).includes(wanted)));
    if (namesakes.length > NAMESAKES_MAX) break;
  }
  const [first, second] = namesakes;
  if (first && !second) return first;
  if (first) return { several: namesakes.slice(0, NAMESAKES_MAX).map(({ id }) => id) };
  return { nearest: nearestOf(wanted, namesIn(devices)) };
}

/** Returns a sentence that says why a name does not match exactly one device. */
export function ambiguousNameSentence(named: NamedDevice, ifNone: string): string {
  if ('several' in named) {
    return `matches several devices; use an ID: ${named.several.join(', ')}`;
  }
  const nearest = 'nearest' in named ? named.nearest : [];
  const hint = nearest.length === 0 ? ifNone : `nearest: ${nearest.join(', ')}`;
  return `no device has this ID or identity value; ${hint}`;
}

function namesIn(devices: Devices['devices']): string[] {
  const names: string[] = [];
  for (const batch of devices.readBatches({})) {
    for (const { id, identity } of batch) names.push(id, ...identityValues(identity));
    if (names.length >= COMPARED_MAX) break;
  }
  return names;
}

/** Returns the values of an identity's members as text. */
function identityValues(identity: string): string[] {
  return Object.values(jsonObject(identity)).map((value) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  );
}
