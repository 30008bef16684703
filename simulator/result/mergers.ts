/**
 * Functions that merge the values of several parts of a run. Each section of a result has a table of
 * them.
 */

/** The values of the parts that have one; at least one. */
export type PartValues<T> = readonly [T, ...T[]];
/** Merges the values of several parts; returns undefined to omit the member. */
type Merger<T> = (parts: PartValues<T>) => T | undefined;
/** A merger for each member of an object. */
type Mergers<T> = { readonly [Name in keyof T]-?: Merger<Exclude<T[Name], undefined>> };

export const first = <T>([one]: PartValues<T>): T => one;
export const sum = (parts: readonly number[]): number =>
  parts.reduce((total, each) => total + each, 0);
export const lowest = (parts: readonly number[]): number => Math.min(...parts);
export const highest = (parts: readonly number[]): number => Math.max(...parts);
export const every = (parts: readonly boolean[]): boolean => parts.every((each) => each);

/** Returns the value if all parts have the same one; otherwise undefined. */
export const commonValue = <T>(parts: PartValues<T>): T | undefined =>
  parts.every((each) => each === parts[0]) ? parts[0] : undefined;

/** Returns a merger that joins the distinct texts in alphabetical order. */
export function joinTexts(separator: string) {
  return (parts: readonly string[]): string => [...new Set(parts)].sort().join(separator);
}

/** Adds counts by name. */
export function counts<Counts extends Readonly<Record<keyof Counts, number>>>(
  parts: readonly Counts[],
): Counts {
  const total = new Map<string, number>();
  for (const [name, count] of parts.flatMap((part) => Object.entries<number>(part))) {
    total.set(name, (total.get(name) ?? 0) + count);
  }
  return Object.fromEntries(total) as Counts;
}

/** Returns a merger that merges objects member by member, and omits members that no part has. */
export function fields<T extends object>(mergers: Mergers<T>): (parts: readonly Partial<T>[]) => T {
  const names = Object.keys(mergers) as (keyof T & string)[];
  return (parts) => {
    const entries = names.flatMap((name) => {
      const values: readonly (T[typeof name] | undefined)[] = parts.map((part) => part[name]);
      const definedValues = values.filter(isGiven);
      const value = areSome(definedValues) ? mergers[name](definedValues) : undefined;
      return value === undefined ? [] : [[name, value]];
    });
    return Object.fromEntries(entries) as T;
  };
}

function isGiven<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}

function areSome<T>(values: readonly T[]): values is PartValues<T> {
  return values.length > 0;
}

type RowComparator<Row> = (one: Row, other: Row) => number;

/** Returns a merger that concatenates lists, sorts the rows and keeps at most `max` of them. */
export function mergeLists<Row>(
  order: RowComparator<Row> = () => 0,
  max = Number.POSITIVE_INFINITY,
) {
  return (parts: readonly (readonly Row[])[]): Row[] => parts.flat().sort(order).slice(0, max);
}

/**
 * Returns a merger that merges rows with the same key. The result is sorted by key unless an order is
 * given.
 */
export function rows<Row>(
  keyOf: (row: Row) => string,
  merger: (rows: PartValues<Row>) => Row,
  order: RowComparator<Row> = (one, other) => (keyOf(one) < keyOf(other) ? -1 : 1),
) {
  return (parts: readonly (readonly Row[])[]): Row[] =>
    [...groupRows(parts.flat(), keyOf).values()].map(merger).sort(order);
}

/** Groups rows by name, in order of first appearance. */
export function groupRows<Row>(
  all: readonly Row[],
  nameOf: (row: Row) => string,
): ReadonlyMap<string, PartValues<Row>> {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of all) {
    const group = groups.get(nameOf(row));
    if (group) group.push(row);
    else groups.set(nameOf(row), [row]);
  }
  return groups;
}

/** An order that keeps rows in the order of their first appearance. */
export const keepOrder = (): number => 0;
