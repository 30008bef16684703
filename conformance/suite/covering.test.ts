import { describe, expect, it } from 'vitest';
import { coveringPairs } from './covering.ts';

const values = {
  separator: ['.', '/', '__'],
  ignored: ['none', 'actor.id', 'change'],
  type: ['deployment', 'artifact', 'device', 'user'],
  sort: ['asc', 'desc'],
  limit: [1, 2],
} as const;

describe('a covering array of pairs', () => {
  it('has each pair of values of each two parameters', () => {
    const rows: readonly Readonly<Record<string, unknown>>[] = coveringPairs(values);
    const parameters: [string, readonly unknown[]][] = Object.entries(values);
    for (const [one, some] of parameters) {
      for (const [other, others] of parameters.filter(([name]) => name !== one)) {
        for (const value of some) {
          const found = rows.filter((row) => row[one] === value).map((row) => row[other]);
          expect(new Set(found)).toEqual(new Set(others));
        }
      }
    }
  });

  it('is much shorter than the list of all combinations', () => {
    expect(coveringPairs(values).length).toBeLessThanOrEqual(16);
  });

  it('is the same each time for the same values', () => {
    expect(coveringPairs(values)).toEqual(coveringPairs(values));
  });

  it('of one parameter has one combination for each value', () => {
    expect(coveringPairs({ sort: ['asc', 'desc'] })).toEqual([{ sort: 'asc' }, { sort: 'desc' }]);
  });

  it('refuses a parameter that has no value, by its name', () => {
    expect(() => coveringPairs({ sort: ['asc'], limit: [] })).toThrow(/limit has no value/);
  });
});
