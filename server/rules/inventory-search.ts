/** Which devices a search in the inventory finds, and in which order. */
import type {
  AttributePlace,
  InventoryFilter,
  InventorySort,
} from '../../fixtures/contract/management/inventory-search.ts';
import { isTimestamp, timestampMs } from '../../fixtures/contract/text.ts';
import { compilePattern } from './pattern.ts';

/** The values of one attribute, by the ids of the devices that have it. */
export type Column = ReadonlyMap<string, unknown>;

/** One condition, ready to be asked of a value; a device without the attribute has none. */
export interface Condition {
  readonly place: AttributePlace;
  holds(held: unknown): boolean;
}

/** Makes a condition of a filter. @throws PatternFault when it is a pattern that is not taken */
export function conditionOf(filter: InventoryFilter): Condition {
  const { scope, attribute } = filter;
  return { place: { scope, attribute }, holds: testOf(filter) };
}

/** The ids that fulfil all conditions, in the order asked for, else in the order given. */
export function searchDevices(
  ids: readonly string[],
  { conditions, sort }: { conditions: readonly Condition[]; sort: readonly InventorySort[] },
  columnOf: (place: AttributePlace) => Column,
): string[] {
  let found = [...ids];
  for (const { place, holds } of conditions) {
    const column = columnOf(place);
    found = found.filter((id) => holds(column.get(id)));
  }
  const keys = sort.map(({ order, ...place }) => ({ order, column: columnOf(place) }));
  return keys.length === 0 ? found : found.sort((one, other) => orderBy(keys, one, other));
}

type Test = (held: unknown) => boolean;

function testOf(filter: InventoryFilter): Test {
  switch (filter.type) {
    case '$eq':
      return equals(asStored(filter, filter.value));
    case '$ne':
      return not(equals(asStored(filter, filter.value)));
    case '$gt':
      return compares(asStored(filter, filter.value), (order) => order > 0);
    case '$gte':
      return compares(asStored(filter, filter.value), (order) => order >= 0);
    case '$lt':
      return compares(asStored(filter, filter.value), (order) => order < 0);
    case '$lte':
      return compares(asStored(filter, filter.value), (order) => order <= 0);
    case '$in':
      return anyOf(filter.value.map((value) => equals(asStored(filter, value))));
    case '$nin':
      return not(anyOf(filter.value.map((value) => equals(asStored(filter, value)))));
    case '$exists':
      return (held) => (held !== undefined) === filter.value;
    case '$regex': {
      const pattern = compilePattern(filter.value);
      return anyElement((held) => typeof held === 'string' && pattern.isIn(held));
    }
  }
}

/** Times are stored in one form; a filter may write them in another. */
function asStored(filter: InventoryFilter, value: unknown): unknown {
  const isTime = filter.scope === 'system' && typeof value === 'string' && isTimestamp(value);
  return isTime ? new Date(timestampMs(value)).toISOString() : value;
}

/** A list is equal to an equal list, and to each of its elements. */
function equals(wanted: unknown): Test {
  const text = JSON.stringify(wanted);
  const isSame: Test = (held) => held !== undefined && JSON.stringify(held) === text;
  return anyOf([isSame, anyElement(isSame)]);
}

/** Only values of one kind can be put in an order. */
function compares(wanted: unknown, isWanted: (order: number) => boolean): Test {
  return anyElement((held) => {
    const order = kindOf(held) === kindOf(wanted) ? orderOf(held, wanted) : Number.NaN;
    return isWanted(order);
  });
}

/** A test of the elements where the value is a list, else of the value. */
function anyElement(test: Test): Test {
  return (held) => (Array.isArray(held) ? held.some(test) : test(held));
}

function anyOf(tests: readonly Test[]): Test {
  return (held) => tests.some((test) => test(held));
}

function not(test: Test): Test {
  return (held) => !test(held);
}

function orderBy(
  keys: readonly { readonly order: 'asc' | 'desc'; readonly column: Column }[],
  one: string,
  other: string,
): number {
  for (const { order, column } of keys) {
    const [left, right] = [column.get(one), column.get(other)];
    const difference = kindOf(left) - kindOf(right) || orderOf(left, right);
    if (difference !== 0) return order === 'asc' ? difference : -difference;
  }
  return 0;
}

/** Devices without the attribute come first, then numbers, texts, and all else. */
function kindOf(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return 1;
  return typeof value === 'string' ? 2 : 3;
}

function orderOf(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  const [left, right] = [textOf(one), textOf(other)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
