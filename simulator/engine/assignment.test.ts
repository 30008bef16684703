import { describe, expect, it } from 'vitest';
import { assignAcrossGroups, assignByWeight } from './assignment.ts';

function weights(given: Readonly<Record<string, number>>) {
  return Object.entries(given).map(([choice, weight]) => ({ choice, weight }));
}

function counts(row: readonly string[]): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const choice of row) counted[choice] = (counted[choice] ?? 0) + 1;
  return counted;
}

describe('assignment by weight', () => {
  it.each([
    [30, { rsa: 1, ecdsa: 1, ed25519: 1 }, { rsa: 10, ecdsa: 10, ed25519: 10 }],
    [10, { a: 1, b: 1, c: 1 }, { a: 4, b: 3, c: 3 }],
    [100, { a: 97, b: 2, c: 1 }, { a: 97, b: 2, c: 1 }],
    [7, { a: 0.5, b: 0.5 }, { a: 4, b: 3 }],
    [5, { a: 0, b: 3 }, { b: 5 }],
    [1, { a: 1, b: 9 }, { b: 1 }],
    [3, { a: 1, b: 1, c: 1, d: 1 }, { a: 1, b: 1, c: 1 }],
  ])('gives %i devices with weights %o exactly %o', (count, given, wanted) => {
    expect(counts(assignByWeight(weights(given), count))).toEqual(wanted);
  });

  it('deals choices in turn instead of in blocks', () => {
    expect(assignByWeight(weights({ a: 1, b: 1 }), 6).join('')).toMatch(/^(ab|ba)+$/);
    expect(assignByWeight(weights({ a: 2, b: 1 }), 9).join('')).not.toMatch(/aaa|bb/);
  });

  it('keeps every stretch of the row near the same proportions', () => {
    const row = assignByWeight(weights({ a: 5, b: 3, c: 2 }), 200);
    for (let from = 0; from + 20 <= row.length; from++) {
      const { a = 0, b = 0, c = 0 } = counts(row.slice(from, from + 20));
      expect(Math.abs(a - 10)).toBeLessThanOrEqual(2);
      expect(Math.abs(b - 6)).toBeLessThanOrEqual(2);
      expect(Math.abs(c - 4)).toBeLessThanOrEqual(2);
    }
  });

  it('gives the same assignment each time', () => {
    const given = weights({ a: 3, b: 2 });
    expect(assignByWeight(given, 50)).toEqual(assignByWeight(given, 50));
  });

  it.each([[{}], [{ a: 0 }], [{ a: 0, b: 0 }]])(
    'refuses weights that contain no share: %o',
    (given) => {
      expect(() => assignByWeight(weights(given), 3)).toThrow(RangeError);
    },
  );
});

describe('assignment across groups', () => {
  const keys = assignByWeight(weights({ rsa: 1, ecdsa: 1, ed25519: 1 }), 36);

  it('gives each of three groups the same mixture of three choices', () => {
    const row = assignAcrossGroups(weights({ x: 1, y: 1, z: 1 }), keys);
    const pairs = counts(row.map((choice, index) => `${keys[index]} ${choice}`));
    expect(Object.keys(pairs)).toHaveLength(9);
    for (const count of Object.values(pairs)) expect(count).toBe(4);
  });

  it('keeps the total counts over all groups exact', () => {
    const row = assignAcrossGroups(weights({ steady: 27, failing: 1, aborted: 1, installed: 1 }), [
      ...assignByWeight(weights({ rsa: 1, ecdsa: 1, ed25519: 1 }), 30),
    ]);
    expect(counts(row)).toEqual({ steady: 27, failing: 1, aborted: 1, installed: 1 });
  });

  it('deviates from the share in each group by at most two', () => {
    const row = assignAcrossGroups(weights({ x: 3, y: 2 }), keys);
    for (const key of ['rsa', 'ecdsa', 'ed25519']) {
      const mine = row.filter((_, index) => keys[index] === key);
      expect(Math.abs((counts(mine).x ?? 0) - 7.2)).toBeLessThanOrEqual(2);
    }
  });

  it('refuses weights that contain no share', () => {
    expect(() => assignAcrossGroups(weights({ x: 0 }), keys)).toThrow(RangeError);
  });
});
