import { describe, expect, it } from 'vitest';
import type { Attribute } from '../../fixtures/contract/resources.ts';
import { attributesAfter, tooManyAttributes, tooManyTags } from './inventory.ts';

function named(count: number, from = 0): Attribute[] {
  return Array.from({ length: count }, (_, index) => ({ name: `a${from + index}`, value: 1 }));
}

/** Returns the stored attributes after two successive reports. */
function storedAfter(first: readonly Attribute[], second: readonly Attribute[] = []) {
  return attributesAfter(attributesAfter([], first, 1), second, 2);
}

describe('reported attributes', () => {
  it('are stored by name with values of any kind', () => {
    const reported = [
      { name: 'b', value: [1, 2.5] },
      { name: 'c', value: ['x', '\u00e9'], description: 'why' },
      { name: 'a.$', value: '' },
    ];
    expect(attributesAfter([], reported, 7)).toEqual([
      { name: 'a.$', value: '', updatedMs: 7 },
      { name: 'b', value: [1, 2.5], updatedMs: 7 },
      { name: 'c', value: ['x', '\u00e9'], description: 'why', updatedMs: 7 },
    ]);
  });

  it('stay when others are reported, and keep their descriptions', () => {
    const first = [
      { name: 'a', value: 1, description: 'why' },
      { name: 'b', value: 2 },
    ];
    expect(storedAfter(first, [{ name: 'a', value: 'text' }])).toEqual([
      { name: 'a', value: 'text', description: 'why', updatedMs: 2 },
      { name: 'b', value: 2, updatedMs: 1 },
    ]);
  });

  it('take the last value of a repeated name, and names are case-sensitive', () => {
    const reported = [
      { name: 'a', value: 1 },
      { name: 'A', value: 2 },
      { name: 'a', value: 3 },
    ];
    expect(storedAfter(reported)).toMatchObject([
      { name: 'A', value: 2 },
      { name: 'a', value: 3 },
    ]);
  });
});

describe('the limit on the number of attributes', () => {
  it.each([
    ['none', [], []],
    ['a hundred new ones', [], named(100)],
    ['a hundred that are there already', named(100), named(100)],
    ['a hundred together', named(50), named(50, 50)],
    ['one name many times', [], [...named(1), ...named(1), ...named(100)]],
  ])('accepts: %s', (_, kept, changed) => {
    expect(tooManyAttributes(storedAfter(kept, changed))).toBeUndefined();
  });

  it.each([
    ['new ones', [], named(101), 101],
    ['one beside a hundred', named(100), named(1, 100), 101],
    ['many beside many', named(80), named(100, 40), 140],
  ])('refuses, with the count: %s', (_, kept, changed, count) => {
    expect(tooManyAttributes(storedAfter(kept, changed))).toBe(
      `a device can have at most 100 attributes, not ${count}`,
    );
  });
});

describe('the limit on the size of attributes', () => {
  const large = { name: 'large', value: 'x'.repeat(200_000) };
  const tooLarge = 'the attributes of a device can have at most 262144 bytes in total';

  it('applies to the result of a change, with kept descriptions', () => {
    expect(tooManyAttributes(storedAfter([large], [large]))).toBeUndefined();
    expect(tooManyAttributes(storedAfter([large], [{ ...large, name: 'second' }]))).toBe(tooLarge);
    const described = { name: 'a', value: 1, description: 'x'.repeat(100_000) };
    expect(tooManyAttributes(storedAfter([large, described], [{ name: 'a', value: 2 }]))).toBe(
      tooLarge,
    );
  });
});

describe('the limit on the number of tags', () => {
  it('is twenty, including existing ones', () => {
    expect(tooManyTags(storedAfter(named(20)))).toBeUndefined();
    expect(tooManyTags(storedAfter(named(20), named(20)))).toBeUndefined();
    expect(tooManyTags(storedAfter(named(20), named(1, 20)))).toBe(
      'a device can have at most 20 tags, not 21',
    );
  });
});
