/**
 * Rules that merge the values of several parts of a run; each section of a result is a table of
 * rules.
 */

/** The values of those parts that have one. */
export type Parts<T> = readonly [T, ...T[]];
/** Merges them; undefined leaves the member out. */
type Rule<T> = (parts: Parts<T>) => T | undefined;
/** A rule for each member. */
type Rules<T> = { readonly [Name in keyof T]-?: Rule<Exclude<T[Name], undefined>> };

export const first = <T>([one]: Parts<T>): T => one;
export const sum = (parts: readonly number[]): number =>
  parts.reduce((total, each) => total + each, 0);
export const lowest = (parts: readonly number[]): number => Math.min(...parts);
export const highest = (parts: readonly number[]): number => Math.max(...parts);
export const every = (parts: readonly boolean[]): boolean => parts.every((each) => each);

/** Keeps a value on which all parts agree. */
export const agreed = <T>(parts: Parts<T>): T | undefined =>
  parts.every((each) => each === parts[0]) ? parts[0] : undefined;

/** Joins the distinct texts in alphabetical order. */
export function joined(separator: string) {
  return (parts: readonly string[]): string => [...new Set(parts)].sort().join(separator);
}

/** Counts by name, added name by name. */
export function counts<Counts extends Readonly<Record<keyof Counts, number>>>(
  parts: readonly Counts[],
): Counts {
  const total = new Map<string, number>();
  for (const [name, count] of parts.flatMap((part) => Object.entries<number>(part))) {
    total.set(name, (total.get(name) ?? 0) + count);
  }
  return Object.fromEntries(total) as Counts;
}

/** Merges objects member by member; a member that no part has is left out. */
export function fields<T extends object>(rules: Rules<T>): (parts: readonly Partial<T>[]) => T {
  const names = Object.keys(rules) as (keyof T & string)[];
  return (parts) => {
    const entries = names.flatMap((name) => {
      const values: readonly (T[typeof name] | undefined)[] = parts.map((part) => part[name]);
      const given = values.filter(isGiven);
      const value = areSome(given) ? rules[name](given) : undefined;
      return value === undefined ? [] : [[name, value]];
    });
    return Object.fromEntries(entries) as T;
  };
}

function isGiven<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}

function areSome<T>(values: readonly T[]): values is Parts<T> {
  return values.length > 0;
}

type Order<Row> = (one: Row, other: Row) => number;

/** Puts all rows into one list. */
export function listed<Row>(order: Order<Row> = () => 0, max = Number.POSITIVE_INFINITY) {
  return (parts: readonly (readonly Row[])[]): Row[] => parts.flat().sort(order).slice(0, max);
}

/** Merges the rows of each key; sorted by key unless another order is given. */
export function rows<Row>(
  keyOf: (row: Row) => string,
  rule: (rows: Parts<Row>) => Row,
  order: Order<Row> = (one, other) => (keyOf(one) < keyOf(other) ? -1 : 1),
) {
  return (parts: readonly (readonly Row[])[]): Row[] =>
    [...grouped(parts.flat(), keyOf).values()].map(rule).sort(order);
}

/** Groups rows by name, in order of first appearance. */
export function grouped<Row>(
  all: readonly Row[],
  nameOf: (row: Row) => string,
): ReadonlyMap<string, Parts<Row>> {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of all) {
    const group = groups.get(nameOf(row));
    if (group) group.push(row);
    else groups.set(nameOf(row), [row]);
  }
  return groups;
}

/** Keeps rows in the order of their first appearance. */
export const inFirstSeenOrder = (): number => 0;
