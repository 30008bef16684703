/** Lists, reads and searches devices with their attributes in the management API. */
import { yieldInTurns } from '../../../fixtures/base/clock.ts';
import { limits } from '../../../fixtures/contract/limits.ts';
import type {
  FilterableAttribute,
  InventoryDevice,
} from '../../../fixtures/contract/management/inventory.ts';
import type { AttributeKey } from '../../../fixtures/contract/management/inventory-search.ts';
import { JsonList } from '../../http/json-list.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import {
  defineEndpoint,
  defineEndpointWithOwnTransactions,
  type HandlerContext,
} from '../../pipeline/endpoint.ts';
import { readListTerms } from '../../rules/inventory-query.ts';
import { SortError } from '../../rules/inventory-search.ts';
import { PatternError } from '../../rules/pattern.ts';
import type { Page } from '../../store/engine/page.ts';
import { pagingHeaders } from '../paging.ts';
import {
  type DeviceSearch,
  type FoundDevices,
  findDevices,
  isSearch,
  pageOf,
} from './found-devices.ts';
import { inventoryView } from './inventory-view.ts';
import { provisionedDevice, provisionedOnly } from './provisioned-devices.ts';

export const listInventory = defineEndpoint('list-inventory', async ({ query }, context) => {
  const { request } = context;
  const terms = readListTerms(new URLSearchParams(request.url?.split('?')[1]));
  if ('problem' in terms) return refuse.malformedAt('query', terms);
  const { group, has_group: hasGroup } = query;
  const filter = { ...provisionedOnly(context), group, hasGroup };
  const page = { page: query.page, perPage: query.per_page };
  const result = await searchDevices(context, { filter, ...terms, words: [] }, page);
  if (result instanceof Refusal) return result;
  return {
    status: 200,
    headers: pagingHeaders({ url: request.url ?? '', total: result.total, ...page }),
    body: await listOf(result.ids, context),
  };
});

export const getInventory = defineEndpoint('get-inventory', ({ parameters }, context) => {
  const { store } = context;
  const device = provisionedDevice(context, parameters.id);
  if (device instanceof Refusal) return device;
  const version = store.tags.version(device.id);
  return {
    status: 200,
    ...(version !== undefined && { headers: { ETag: `"${version}"` } }),
    body: inventoryView(store, device),
  };
});

export const searchInventory = defineEndpointWithOwnTransactions(
  'search-inventory',
  async ({ body }, context) => {
    const { filters, sort, text, attributes, page, per_page: perPage } = body;
    const filter = { ...provisionedOnly(context), id: body.device_ids };
    const words = text.split(/\s+/).filter((word) => word !== '');
    const result = await searchDevices(
      context,
      { filter, filters, sort, words },
      { page, perPage },
    );
    if (result instanceof Refusal) return result;
    return {
      status: 200,
      headers: { 'X-Total-Count': String(result.total) },
      body: await listOf(result.ids, context, attributes),
    };
  },
);

/**
 * Finds the devices of a page: with one query if possible, otherwise in short turns of work, since
 * every device has to be read.
 */
async function searchDevices(
  context: HandlerContext,
  wanted: DeviceSearch,
  page: Page,
): Promise<FoundDevices | Refusal> {
  const { store, longWork } = context;
  if (!isSearch(wanted)) return pageOf(store, wanted.filter, page);
  try {
    return await longWork.run(context, findDevices(store, wanted, page));
  } catch (error) {
    if (error instanceof SortError) return refuse.malformed(error.message);
    if (!(error instanceof PatternError)) throw error;
    return refuse.malformed(`body: filters: the pattern of a $regex ${error.message}`);
  }
}

/**
 * Returns the devices with these IDs, and leaves out IDs whose device has been deleted meanwhile.
 */
function listOf(
  ids: readonly string[],
  context: HandlerContext,
  wanted: readonly AttributeKey[] = [],
): Promise<JsonList<InventoryDevice>> {
  const { store } = context;
  const readDevice = (id: string): InventoryDevice | undefined => {
    const device = store.devices.find(id);
    return device && selectAttributes(inventoryView(store, device), wanted);
  };
  return JsonList.ofEach(ids, readDevice, context);
}

/**
 * Returns the device with only the requested attributes, or with all attributes if none is
 * requested.
 */
function selectAttributes(
  device: InventoryDevice,
  wanted: readonly AttributeKey[],
): InventoryDevice {
  if (wanted.length === 0) return device;
  const isWanted = ({ scope, name }: InventoryDevice['attributes'][number]): boolean =>
    wanted.some((attributeKey) => attributeKey.scope === scope && attributeKey.attribute === name);
  return { ...device, attributes: device.attributes.filter(isWanted) };
}

export const listFilterableAttributes = defineEndpoint(
  'list-filterable-attributes',
  async (_input, context) => {
    const { store } = context;
    const page = { page: 1, perPage: limits.filterableDevicesMax };
    const attributes = new Map<string, FilterableAttribute>();
    const devices = store.devices.list(provisionedOnly(context), page);
    for await (const device of yieldInTurns(devices, context)) {
      for (const { scope, name } of inventoryView(store, device).attributes) {
        const key = `${scope}/${name}`;
        attributes.set(key, { scope, name, count: (attributes.get(key)?.count ?? 0) + 1 });
      }
    }
    const body = [...attributes.values()].toSorted(compareAttributes);
    return { status: 200, body: body.slice(0, limits.filterableAttributesMax) };
  },
);

function compareAttributes(one: FilterableAttribute, other: FilterableAttribute): number {
  if (one.count !== other.count) return other.count - one.count;
  const [left, right] = [`${one.scope}/${one.name}`, `${other.scope}/${other.name}`];
  return left < right ? -1 : 1;
}
