import { describe, expect, it } from 'vitest';
import { tooManyAttributes, tooManyTags } from './inventory.ts';

function named(count: number, from = 0): { name: string; value: unknown }[] {
  return Array.from({ length: count }, (_, index) => ({ name: `a${from + index}`, value: 1 }));
}

describe('the number of attributes', () => {
  it.each([
    ['none', [], []],
    ['a hundred new ones', [], named(100)],
    ['a hundred that are there already', named(100), named(100)],
    ['a hundred together', named(50), named(50, 50)],
    ['one name many times', [], [...named(1), ...named(1), ...named(100)]],
  ])('is in order: %s', (_, kept, changed) => {
    expect(tooManyAttributes(kept, changed)).toBeUndefined();
  });

  it.each([
    ['new ones', [], named(101), 101],
    ['one beside a hundred', named(100), named(1, 100), 101],
    ['many beside many', named(80), named(100, 40), 140],
  ])('is too large, and told: %s', (_, kept, changed, count) => {
    expect(tooManyAttributes(kept, changed)).toBe(
      `a device can have at most 100 attributes, not ${count}`,
    );
  });
});

describe('the size of attributes', () => {
  const large = { name: 'large', value: 'x'.repeat(200_000) };
  const tooLarge = 'the attributes of a device can have at most 262144 bytes in total';

  it('is counted as it is after the change, with descriptions that stay', () => {
    expect(tooManyAttributes([large], [large])).toBeUndefined();
    expect(tooManyAttributes([large], [{ ...large, name: 'second' }])).toBe(tooLarge);
    const described = { name: 'a', value: 1, description: 'x'.repeat(100_000) };
    expect(tooManyAttributes([large, described], [{ name: 'a', value: 2 }])).toBe(tooLarge);
  });
});

describe('the number of tags', () => {
  it('may be twenty, those that are there counted', () => {
    expect(tooManyTags([], named(20))).toBeUndefined();
    expect(tooManyTags(named(20), named(20))).toBeUndefined();
    expect(tooManyTags(named(20), named(1, 20))).toBe('a device can have at most 20 tags, not 21');
  });
});
