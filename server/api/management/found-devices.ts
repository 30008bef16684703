/** Finds the devices of a page, by the store alone where it can, else by their attributes. */
import { resultInTurns } from '../../../fixtures/clock.ts';
import type { InventorySort } from '../../../fixtures/contract/management/inventory-search.ts';
import { valueText } from '../../../fixtures/value-text.ts';
import { type Column, type Condition, searchDevices } from '../../rules/inventory-search.ts';
import type { DeviceFilter } from '../../store/device-filter.ts';
import type { StoredDevice } from '../../store/devices.ts';
import type { Page } from '../../store/page.ts';
import type { Store } from '../../store/store.ts';
import { columnOf } from './inventory-view.ts';
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

/** Far more than one server can hold. */
const DEVICES_SEARCHED_MAX = 10_000_000;

/** The devices of the page, and how many there are in all. Rejects with PatternFault. */
export async function findDevices(store: Store, wanted: Wanted, page: Page): Promise<FoundDevices> {
  const { filter, conditions, sort, words } = wanted;
  if (conditions.length + sort.length + words.length === 0) {
    return { total: store.devices.count(filter), devices: store.devices.list(filter, page) };
  }
  const all = store.devices
    .list(filter, { page: 1, perPage: DEVICES_SEARCHED_MAX })
    .filter((device) => holdsAll(device, words));
  const byId = new Map(all.map((device) => [device.id, device]));
  const columns = new Map<string, Column>();
  const search = searchDevices([...byId.keys()], { conditions, sort }, (place) => {
    const key = `${place.scope}/${place.attribute}`;
    const column = columns.get(key) ?? columnOf(store, all, place);
    columns.set(key, column);
    return column;
  });
  const ids = await resultInTurns(search);
  const devices = ids
    .slice((page.page - 1) * page.perPage, page.page * page.perPage)
    .flatMap((id) => byId.get(id) ?? []);
  return { total: ids.length, devices };
}

function holdsAll(device: StoredDevice, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const values = Object.values(identityData(device)).map(valueText);
  const text = [device.id, ...values].join('\n').toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
}
