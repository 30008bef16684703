import { describe, expect, it } from 'vitest';
import { exactOrPrefix, partOrPrefix, type TextSearch } from './text-search.ts';

describe('a search term', () => {
  it.each<[string, TextSearch]>([
    ['foo', { how: 'exact', text: 'foo' }],
    ['foo*', { how: 'prefix', text: 'foo' }],
    ['*', { how: 'prefix', text: '' }],
    ['foo\\*', { how: 'exact', text: 'foo*' }],
    ['foo**', { how: 'prefix', text: 'foo*' }],
    ['*foo', { how: 'exact', text: '*foo' }],
    ['', { how: 'exact', text: '' }],
  ])('is compared exactly unless it ends in a star: %j', (term, expected) => {
    expect(exactOrPrefix(term)).toEqual(expected);
    const inText = expected.how === 'exact' ? { ...expected, how: 'part' } : expected;
    expect(partOrPrefix(term)).toEqual(inText);
  });
});
