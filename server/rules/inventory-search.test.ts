import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import type {
  InventoryFilter,
  InventorySort,
} from '../../fixtures/contract/management/inventory-search.ts';
import { runToEnd } from '../../fixtures/testing/run-to-end.ts';
import { conditionsOf, fulfils, type ReadValue, SortError, SortedIds } from './inventory-search.ts';
import { PatternError } from './pattern.ts';

type Terms = Pick<InventoryFilter, 'type' | 'value'>;

function holds(terms: object, attribute: unknown, scope = 'inventory'): boolean {
  const filter = { scope, attribute: 'a', ...terms } as InventoryFilter;
  return runToEnd(conditionsOf([filter])).every((condition) => condition.holds(attribute));
}

describe('a condition of an inventory search', () => {
  it.each<[Terms['type'], unknown, unknown, boolean]>([
    ['$eq', 'x', 'x', true],
    ['$eq', 'x', 'X', false],
    ['$eq', 7, 7, true],
    ['$eq', 7, '7', false],
    ['$eq', 'x', undefined, false],
    ['$eq', 'x', ['y', 'x'], true],
    ['$eq', ['y', 'x'], ['y', 'x'], true],
    ['$eq', ['x', 'y'], ['y', 'x'], false],
    ['$eq', true, true, true],
    ['$eq', true, 'true', false],
    ['$ne', 'x', 'y', true],
    ['$ne', 'x', 'x', false],
    ['$ne', 'x', undefined, true],
    ['$ne', 'x', ['x', 'y'], false],
    ['$gt', 7, 8, true],
    ['$gt', 7, 7, false],
    ['$gt', 7, '8', false],
    ['$gt', 7, undefined, false],
    ['$gt', 'b', 'c', true],
    ['$gt', 7, [1, 8], true],
    ['$gte', 7, 7, true],
    ['$gte', 7, 6.9, false],
    ['$gte', 'b', undefined, false],
    ['$lt', 7, 6, true],
    ['$lt', 7, 7, false],
    ['$lt', 'b', 'a', true],
    ['$lt', 'b', 1, false],
    ['$lte', 7, 7, true],
    ['$lte', 7, 8, false],
    ['$lte', 7, [], false],
    ['$in', ['x', 7], 7, true],
    ['$in', ['x', 7], 'y', false],
    ['$in', [], 'x', false],
    ['$in', ['x'], ['x', 'y'], true],
    ['$in', ['x'], undefined, false],
    ['$nin', ['x', 7], 7, false],
    ['$nin', ['x', 7], 'y', true],
    ['$nin', ['x'], undefined, true],
    ['$nin', ['x'], ['x', 'y'], false],
    ['$exists', true, '', true],
    ['$exists', true, undefined, false],
    ['$exists', false, undefined, true],
    ['$exists', false, 0, false],
    ['$regex', '^10\\.', '10.0.0.1', true],
    ['$regex', '^10\\.', '110.0.0.1', false],
    ['$regex', '1', 1, false],
    ['$regex', '^b$', ['a', 'b'], true],
    ['$regex', '', undefined, false],
  ])('is met as %s %j for %j: %s', (type, value, attribute, expected) => {
    expect(holds({ type, value }, attribute)).toBe(expected);
  });

  it('accepts any spelling of a time of scope system', () => {
    const contactTime = '2026-11-21T12:00:00.500Z';
    const earlierBound = { type: '$gt', value: '2026-11-21T12:00:00Z' };
    expect(holds(earlierBound, contactTime, 'system')).toBe(true);
    const same = { type: '$eq', value: '2026-11-21T14:00:00.5+02:00' };
    expect(holds(same, contactTime, 'system')).toBe(true);
    expect(holds(same, contactTime, 'inventory')).toBe(false);
  });

  it('throws an error for an invalid pattern', () => {
    expect(() => holds({ type: '$regex', value: '(' }, 'x')).toThrow(PatternError);
  });
});

describe('an inventory search', () => {
  const columns: Readonly<Record<string, ReadonlyMap<string, unknown>>> = {
    size: new Map<string, unknown>([
      ['d1', 10],
      ['d2', 9],
      ['d3', 'nine'],
      ['d4', [9]],
    ]),
    site: new Map([
      ['d1', 'b'],
      ['d2', 'a'],
      ['d3', 'b'],
    ]),
  };
  const ids = ['d1', 'd2', 'd3', 'd4', 'd5'];

  function readerOf(id: string): ReadValue {
    return ({ attribute }) => columns[attribute]?.get(id);
  }

  function sorting(
    sort: readonly (readonly [string, 'asc' | 'desc'])[],
    charactersMax?: number,
  ): SortedIds {
    const keys = sort.map(
      ([attribute, order]): InventorySort => ({ scope: 'inventory', attribute, order }),
    );
    const sorting = new SortedIds(keys, charactersMax);
    for (const id of ids) sorting.add(id, readerOf(id));
    return sorting;
  }

  function sorted(...sort: readonly (readonly [string, 'asc' | 'desc'])[]): readonly string[] {
    return runToEnd(sorting(sort).sortIds());
  }

  it('returns all IDs in their order when it has no terms', () => {
    expect(sorted()).toEqual(ids);
  });

  it('finds the IDs that fulfil all conditions', () => {
    const filters: InventoryFilter[] = [
      { scope: 'inventory', attribute: 'site', type: '$eq', value: 'b' },
      { scope: 'inventory', attribute: 'size', type: '$lte', value: 10 },
    ];
    const conditions = runToEnd(conditionsOf(filters));
    const found = ids.filter((id) => runToEnd(fulfils(conditions, readerOf(id))));
    expect(found).toEqual(['d1']);
  });

  it('sorts absent values first, then numbers, texts and lists', () => {
    expect(sorted(['size', 'asc'])).toEqual(['d5', 'd2', 'd1', 'd3', 'd4']);
    expect(sorted(['size', 'desc'])).toEqual(['d4', 'd3', 'd1', 'd2', 'd5']);
  });

  it('sorts ties by the next key, and finally by the given order', () => {
    expect(sorted(['site', 'desc'])).toEqual(['d1', 'd3', 'd2', 'd4', 'd5']);
    expect(sorted(['site', 'desc'], ['size', 'desc'])).toEqual(['d3', 'd1', 'd2', 'd4', 'd5']);
    expect(sorted(['unheard-of', 'asc'])).toEqual(ids);
  });

  it('sorts thousands of IDs like the standard sort, with pauses', () => {
    const random = seededRandom('sorted');
    const values = new Map(
      Array.from({ length: 1001 }, (_, at) => [`d${at}`, random.integer(0, 300)] as const),
    );
    const many = new SortedIds([{ scope: 'inventory', attribute: 'a', order: 'asc' }]);
    for (const [id, value] of values) many.add(id, () => value);
    const inOrder = [...values].toSorted(([, one], [, other]) => one - other);
    const work = many.sortIds();
    expect(work.next().done).toBe(false);
    expect(runToEnd(work)).toEqual(inOrder.map(([id]) => id));
  });

  it('is refused when the sort values are too long in total', () => {
    const refused = () => sorting([['site', 'asc']], 2);
    expect(refused).toThrow(SortError);
    expect(refused).toThrow('sort by fewer attributes');
    expect(sorting([['site', 'asc']], 3).count).toBe(ids.length);
  });
});

describe('the patterns of one inventory search', () => {
  it('share one step budget across all conditions', () => {
    const one = { scope: 'inventory', attribute: 'a', type: '$regex', value: '^(a+)+$' } as const;
    const text = `${'a'.repeat(100_000)}!`;
    const results = (filters: readonly InventoryFilter[]) =>
      runToEnd(conditionsOf(filters)).map((condition) => condition.holds(text));
    expect(results([one, one])).toEqual([false, false]);
    expect(() => results(Array.from({ length: 100 }, () => one))).toThrow(PatternError);
  });
});
