/** Decides which devices an inventory search finds, and sorts them. */
import type {
  AttributeKey,
  InventoryFilter,
  InventorySort,
} from '../../fixtures/contract/management/inventory-search.ts';
import { isTimestamp, timestampMs } from '../../fixtures/contract/text.ts';
import { compilePattern, StepBudget } from './pattern.ts';

/** A condition on an attribute; the value is undefined for a device without the attribute. */
export interface AttributeCondition {
  readonly key: AttributeKey;
  holds(held: unknown): boolean;
}

/**
 * Creates the conditions of one search; yields wherever the work may pause, because compiling a
 * pattern takes milliseconds. `holds` throws PatternError when the patterns exceed their common
 * budget.
 * @throws PatternError when a pattern is invalid
 */
export function* conditionsOf(
  filters: readonly InventoryFilter[],
): Generator<void, AttributeCondition[]> {
  const budget = new StepBudget();
  const conditions: AttributeCondition[] = [];
  for (const filter of filters) {
    yield;
    const { scope, attribute } = filter;
    conditions.push({ key: { scope, attribute }, holds: testOf(filter, budget) });
  }
  return conditions;
}

/** Returns a device's value of an attribute; undefined when it has none. */
export type ReadValue = (key: AttributeKey) => unknown;

/** Returns true when a device meets all conditions. Yields wherever the work may pause. */
export function* fulfils(
  conditions: readonly AttributeCondition[],
  read: ReadValue,
): Generator<void, boolean> {
  for (const { key, holds } of conditions) {
    yield;
    if (!holds(read(key))) return false;
  }
  return true;
}

/**
 * Maximum length of all values that one search sorts by; a character takes at most two bytes of
 * memory.
 */
const SORTED_CHARACTERS_MAX = 67_108_864;

/** The devices of a search cannot be sorted; the message is a whole sentence. */
export class SortError extends Error {
  override readonly name = 'SortError';
}

/** Sorts the IDs of devices in the order that a search requests. */
export class SortedIds {
  readonly #sort: readonly InventorySort[];
  readonly #found: SortedDevice[] = [];
  #charactersLeft: number;

  constructor(sort: readonly InventorySort[], charactersMax = SORTED_CHARACTERS_MAX) {
    this.#sort = sort;
    this.#charactersLeft = charactersMax;
  }

  get count(): number {
    return this.#found.length;
  }

  /**
   * Adds a device.
   * @throws SortError when the sort values of all devices together are too long
   */
  add(id: string, read: ReadValue): void {
    const keys = this.#sort.map((key) => keyOf(read(key)));
    for (const { value } of keys)
      if (typeof value === 'string') this.#charactersLeft -= value.length;
    if (this.#charactersLeft < 0) {
      throw new SortError(
        `sort: the values to sort by have more than ${SORTED_CHARACTERS_MAX} characters in total; sort by fewer attributes, or search fewer devices`,
      );
    }
    this.#found.push({ id, keys });
  }

  /**
   * Returns the sorted IDs; equal devices keep the order in which they were added. Yields wherever
   * the work may pause, because comparing long values takes time.
   */
  *sortIds(): Generator<void, readonly string[]> {
    const compare = (one: SortedDevice, other: SortedDevice): number => this.#compare(one, other);
    const sorted = this.#sort.length > 0 ? yield* mergeSorted(this.#found, compare) : this.#found;
    return sorted.map(({ id }) => id);
  }

  #compare(one: SortedDevice, other: SortedDevice): number {
    for (const [at, { order }] of this.#sort.entries()) {
      const [left, right] = [one.keys[at], other.keys[at]];
      const comparison = left && right ? compareKeys(left, right) : 0;
      if (comparison !== 0) return order === 'asc' ? comparison : -comparison;
    }
    return 0;
  }
}

/** A device with its sort values, in the order of the sort attributes. */
interface SortedDevice {
  readonly id: string;
  readonly keys: readonly SortKey[];
}

/** A stable merge sort that may pause at each comparison. */
function* mergeSorted<Item>(
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Generator<void, readonly Item[]> {
  let sorted = items;
  for (let width = 1; width < items.length; width *= 2) {
    const merged: Item[] = [];
    for (let from = 0; from < items.length; from += 2 * width) {
      const leftItems = sorted.slice(from, from + width).values();
      const rightItems = sorted.slice(from + width, from + 2 * width).values();
      let [one, other] = [leftItems.next(), rightItems.next()];
      while (!one.done && !other.done) {
        yield;
        const isLeft = compare(one.value, other.value) <= 0;
        merged.push(isLeft ? one.value : other.value);
        if (isLeft) one = leftItems.next();
        else other = rightItems.next();
      }
      for (; !one.done; one = leftItems.next()) merged.push(one.value);
      for (; !other.done; other = rightItems.next()) merged.push(other.value);
    }
    sorted = merged;
  }
  return sorted;
}

type Test = (held: unknown) => boolean;

function testOf(filter: InventoryFilter, budget: StepBudget): Test {
  switch (filter.type) {
    case '$eq':
      return equals([storedValue(filter, filter.value)]);
    case '$ne':
      return not(equals([storedValue(filter, filter.value)]));
    case '$gt':
      return compares(storedValue(filter, filter.value), (order) => order > 0);
    case '$gte':
      return compares(storedValue(filter, filter.value), (order) => order >= 0);
    case '$lt':
      return compares(storedValue(filter, filter.value), (order) => order < 0);
    case '$lte':
      return compares(storedValue(filter, filter.value), (order) => order <= 0);
    case '$in':
      return equals(filter.value.map((value) => storedValue(filter, value)));
    case '$nin':
      return not(equals(filter.value.map((value) => storedValue(filter, value))));
    case '$exists':
      return (held) => (held !== undefined) === filter.value;
    case '$regex': {
      const pattern = compilePattern(filter.value, budget);
      return anyElement((held) => typeof held === 'string' && pattern.isIn(held));
    }
  }
}

/** The system's times are stored in one format; a filter may use another one. */
function storedValue(filter: InventoryFilter, value: unknown): unknown {
  const isTime = filter.scope === 'system' && typeof value === 'string' && isTimestamp(value);
  return isTime ? new Date(timestampMs(value)).toISOString() : value;
}

/** Tests whether a value equals a wanted one; a list also matches if one of its elements does. */
function equals(wanted: readonly unknown[]): Test {
  const texts = new Set(wanted.map((value) => JSON.stringify(value)));
  const isSame: Test = (held) => held !== undefined && texts.has(JSON.stringify(held));
  const isElement = anyElement(isSame);
  return (held) => isSame(held) || isElement(held);
}

/** Compares values of the same kind only; others do not match. */
function compares(wanted: unknown, isWanted: (order: number) => boolean): Test {
  return anyElement((held) => {
    const order = kindOf(held) === kindOf(wanted) ? orderOf(held, wanted) : Number.NaN;
    return isWanted(order);
  });
}

/** Applies the test to a value, or to each element of a list. */
function anyElement(test: Test): Test {
  return (held) => (Array.isArray(held) ? held.some(test) : test(held));
}

function not(test: Test): Test {
  return (held) => !test(held);
}

/** A sort value: the rank of its kind, and the value as it is compared. */
interface SortKey {
  readonly kind: number;
  readonly value: string | number;
}

function keyOf(value: unknown): SortKey {
  return { kind: kindOf(value), value: typeof value === 'number' ? value : textOf(value) };
}

function compareKeys(one: SortKey, other: SortKey): number {
  return one.kind - other.kind || orderOf(one.value, other.value);
}

/** Returns the rank of a value's kind: no value, then numbers, texts, and others. */
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
