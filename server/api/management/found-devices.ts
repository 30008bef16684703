/**
 * Finds the devices of a page: with a query of the store if possible, otherwise by reading the
 * attributes of every device.
 */
import { valueText } from '../../../fixtures/base/value-text.ts';
import type {
  InventoryFilter,
  InventorySort,
} from '../../../fixtures/contract/management/inventory-search.ts';
import { conditionsOf, fulfils, SortedIds } from '../../rules/inventory-search.ts';
import type { DeviceFilter } from '../../store/device-filter.ts';
import type { StoredDevice } from '../../store/devices.ts';
import type { Page } from '../../store/engine/page.ts';
import type { Store } from '../../store/store.ts';
import { valueReader } from './inventory-view.ts';
import { identityData } from './views.ts';

/** The criteria of a device search. */
export interface DeviceSearch {
  readonly filter: DeviceFilter;
  readonly filters: readonly InventoryFilter[];
  readonly sort: readonly InventorySort[];
  /** Words that must all occur in the ID or the identity of the device. Case is ignored. */
  readonly words: readonly string[];
}

export interface FoundDevices {
  readonly total: number;
  /** IDs of the devices on the requested page. */
  readonly ids: readonly string[];
}

/** Returns true if the devices have to be read one by one to answer the search. */
export function isSearch({ filters, sort, words }: DeviceSearch): boolean {
  return filters.length + sort.length + words.length > 0;
}

/** Returns a page of devices in the order of their first contact, and the total number. */
export function pageOf({ devices }: Store, filter: DeviceFilter, page: Page): FoundDevices {
  return { total: devices.count(filter), ids: devices.listIds(filter, page) };
}

/**
 * Returns the devices of a page and the total number. Yields between devices so that the caller can
 * pause the work.
 * @throws PatternError @throws SortError
 */
export function* findDevices(
  store: Store,
  wanted: DeviceSearch,
  page: Page,
): Generator<void, FoundDevices> {
  const { filter, filters, sort, words } = wanted;
  const conditions = yield* conditionsOf(filters);
  const sortedIds = new SortedIds(sort);
  for (const batch of store.devices.readBatches(filter)) {
    for (const device of batch) {
      yield;
      const readValue = valueReader(store, device);
      const isFound = holdsAll(device, words) && (yield* fulfils(conditions, readValue));
      if (isFound) sortedIds.add(device.id, readValue);
    }
  }
  const ids = yield* sortedIds.sortIds();
  const begin = (page.page - 1) * page.perPage;
  return { total: sortedIds.count, ids: ids.slice(begin, begin + page.perPage) };
}

function holdsAll(device: StoredDevice, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const values = Object.values(identityData(device)).map(valueText);
  const text = [device.id, ...values].join('\n').toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
}
