/** Which devices a search in the inventory finds, and in which order. */
import type {
  AttributePlace,
  InventoryFilter,
  InventorySort,
} from '../../fixtures/contract/management/inventory-search.ts';
import { isTimestamp, timestampMs } from '../../fixtures/contract/text.ts';
import { compilePattern, StepBudget } from './pattern.ts';

/** The values of one attribute, by the ids of the devices that have it. */
export type Column = ReadonlyMap<string, unknown>;

/** One condition, ready to be asked of a value; a device without the attribute has none. */
export interface Condition {
  readonly place: AttributePlace;
  holds(held: unknown): boolean;
}

/**
 * Makes the conditions of one search of its filters. What they are asked throws PatternFault
 * where the patterns together take too long. Yields wherever the work may pause, as a pattern takes
 * milliseconds to be made.
 * @throws PatternFault when one is no pattern
 */
export function* conditionsOf(filters: readonly InventoryFilter[]): Generator<void, Condition[]> {
  const budget = new StepBudget();
  const conditions: Condition[] = [];
  for (const filter of filters) {
    yield;
    const { scope, attribute } = filter;
    conditions.push({ place: { scope, attribute }, holds: testOf(filter, budget) });
  }
  return conditions;
}

/** The ids that fulfil all conditions, in their order. Yields wherever the work may pause. */
export function* fulfilling(
  ids: readonly string[],
  conditions: readonly Condition[],
  columnOf: (place: AttributePlace) => Column,
): Generator<void, readonly string[]> {
  let found = ids;
  for (const { place, holds } of conditions) {
    if (found.length === 0) return found;
    yield;
    const column = columnOf(place);
    const holding: string[] = [];
    for (const id of found) {
      yield;
      if (holds(column.get(id))) holding.push(id);
    }
    found = holding;
  }
  return found;
}

/** How many devices are looked up at a time. */
const PORTION = 500;

/**
 * The ids in the order asked for; those that it leaves open stay in theirs. Yields wherever the work
 * may pause.
 */
export function* sortedBy(
  ids: readonly string[],
  sort: readonly InventorySort[],
  columnOf: (ids: readonly string[], place: AttributePlace) => Column,
): Generator<void, readonly string[]> {
  let ordered = ids;
  // Sorting keeps the order of equals, so that the first key is the last one to sort by.
  for (const { order, ...place } of sort.toReversed()) {
    const keyed: SortKey[] = [];
    for (let at = 0; at < ordered.length; at += PORTION) {
      yield;
      const portion = ordered.slice(at, at + PORTION);
      const column = columnOf(portion, place);
      for (const id of portion) keyed.push(keyOf(id, column.get(id)));
    }
    yield;
    const direction = order === 'asc' ? 1 : -1;
    keyed.sort((one, other) => compareKeys(one, other) * direction);
    ordered = keyed.map(({ id }) => id);
  }
  return ordered;
}

type Test = (held: unknown) => boolean;

function testOf(filter: InventoryFilter, budget: StepBudget): Test {
  switch (filter.type) {
    case '$eq':
      return equals([asStored(filter, filter.value)]);
    case '$ne':
      return not(equals([asStored(filter, filter.value)]));
    case '$gt':
      return compares(asStored(filter, filter.value), (order) => order > 0);
    case '$gte':
      return compares(asStored(filter, filter.value), (order) => order >= 0);
    case '$lt':
      return compares(asStored(filter, filter.value), (order) => order < 0);
    case '$lte':
      return compares(asStored(filter, filter.value), (order) => order <= 0);
    case '$in':
      return equals(filter.value.map((value) => asStored(filter, value)));
    case '$nin':
      return not(equals(filter.value.map((value) => asStored(filter, value))));
    case '$exists':
      return (held) => (held !== undefined) === filter.value;
    case '$regex': {
      const pattern = compilePattern(filter.value, budget);
      return anyElement((held) => typeof held === 'string' && pattern.isIn(held));
    }
  }
}

/** Times are stored in one form; a filter may write them in another. */
function asStored(filter: InventoryFilter, value: unknown): unknown {
  const isTime = filter.scope === 'system' && typeof value === 'string' && isTimestamp(value);
  return isTime ? new Date(timestampMs(value)).toISOString() : value;
}

/** Whether it is equal to one of them; a list is equal to an equal list, and to each element. */
function equals(wanted: readonly unknown[]): Test {
  const texts = new Set(wanted.map((value) => JSON.stringify(value)));
  const isSame: Test = (held) => held !== undefined && texts.has(JSON.stringify(held));
  const isElement = anyElement(isSame);
  return (held) => isSame(held) || isElement(held);
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

function not(test: Test): Test {
  return (held) => !test(held);
}

/** What kind the value of a device is of, and the value in the form in which it is compared. */
interface SortKey {
  readonly id: string;
  readonly kind: number;
  readonly value: string | number;
}

function keyOf(id: string, value: unknown): SortKey {
  return { id, kind: kindOf(value), value: typeof value === 'number' ? value : textOf(value) };
}

function compareKeys(one: SortKey, other: SortKey): number {
  return one.kind - other.kind || orderOf(one.value, other.value);
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
