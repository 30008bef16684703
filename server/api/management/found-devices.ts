/** Finds the devices of a page, by the store alone where it can, else by their attributes. */
import { inTurns, resultInTurns } from '../../../fixtures/clock.ts';
import type {
  AttributePlace,
  InventorySort,
} from '../../../fixtures/contract/management/inventory-search.ts';
import { valueText } from '../../../fixtures/value-text.ts';
import { type Column, type Condition, fulfilling, sortedBy } from '../../rules/inventory-search.ts';
import type { DeviceFilter } from '../../store/device-filter.ts';
import type { StoredDevice } from '../../store/devices.ts';
import type { Page } from '../../store/page.ts';
import type { Store } from '../../store/store.ts';
import { columnReader } from './inventory-view.ts';
import { identityData } from './views.ts';

/** What devices are looked for. */
export interface Wanted {
  readonly filter: DeviceFilter;
  readonly conditions: readonly Condition[];
  readonly sort: readonly InventorySort[];
  /** Words that the id or the identity holds, each of them; case does not count. */
  readonly words: readonly string[];
}

export interface FoundDevices {
  readonly total: number;
  /** Those of the page. */
  readonly devices: readonly StoredDevice[];
}

/** The devices of the page, and how many there are in all. Rejects with PatternFault. */
export async function findDevices(store: Store, wanted: Wanted, page: Page): Promise<FoundDevices> {
  const { filter, conditions, sort, words } = wanted;
  if (conditions.length + sort.length + words.length === 0) {
    return { total: store.devices.count(filter), devices: store.devices.list(filter, page) };
  }
  const read = columnReader(store);
  const byId = new Map<string, StoredDevice>();
  for await (const portion of inTurns(store.devices.portions(filter))) {
    const named = portion.filter((device) => holdsAll(device, words));
    const columns = new Map<string, Column>();
    const columnOf = (place: AttributePlace): Column => {
      const key = `${place.scope}/${place.attribute}`;
      const column = columns.get(key) ?? read(named, place);
      columns.set(key, column);
      return column;
    };
    const ids = named.map(({ id }) => id);
    const found = new Set(await resultInTurns(fulfilling(ids, conditions, columnOf)));
    for (const device of named) if (found.has(device.id)) byId.set(device.id, device);
  }
  const devicesOf = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? []);
  const ids = await resultInTurns(
    sortedBy([...byId.keys()], sort, (portion, place) => read(devicesOf(portion), place)),
  );
  const begin = (page.page - 1) * page.perPage;
  return { total: ids.length, devices: devicesOf(ids.slice(begin, begin + page.perPage)) };
}

function holdsAll(device: StoredDevice, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const values = Object.values(identityData(device)).map(valueText);
  const text = [device.id, ...values].join('\n').toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
}
