import { describe, expect, it } from 'vitest';
import { coveringArray } from './covering.ts';

const values = {
  separator: ['.', '/', '__'],
  ignored: ['none', 'actor.id', 'change'],
  type: ['deployment', 'artifact', 'device', 'user'],
  sort: ['asc', 'desc'],
  limit: [1, 2],
} as const;

describe('a covering array of pairs', () => {
  it('has each pair of values of each two parameters', () => {
    const rows: readonly Readonly<Record<string, unknown>>[] = coveringArray(values, 2);
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
    expect(coveringArray(values, 2).length).toBeLessThanOrEqual(16);
  });

  it('contains each triple of values of any three parameters when made for triples', () => {
    const rows = coveringArray(values, 3);
    const triples = new Set(
      rows.map(({ separator, type, sort }) => [separator, type, sort].join()),
    );
    expect(triples.size).toBe(3 * 4 * 2);
    expect(rows.length).toBeLessThan(60);
  });

  it('is the same each time for the same values', () => {
    expect(coveringArray(values, 2)).toEqual(coveringArray(values, 2));
  });

  it('has one combination for each value of a single parameter', () => {
    expect(coveringArray({ sort: ['asc', 'desc'] }, 2)).toEqual([
      { sort: 'asc' },
      { sort: 'desc' },
    ]);
  });

  it('refuses a parameter that has no value, by its name', () => {
    expect(() => coveringArray({ sort: ['asc'], limit: [] }, 2)).toThrow(/limit has no value/);
  });
});
