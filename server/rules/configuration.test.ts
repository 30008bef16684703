import { describe, expect, it } from 'vitest';
import { keepPairs, mergePairs, replacePairs } from './configuration.ts';

function many(count: number, from = 0): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${from + i}`, 'v']));
}

const emptied = Object.fromEntries(Object.keys(many(100)).map((name) => [name, '']));

describe('the merge of device configurations', () => {
  it.each([
    ['a new key', { a: '1' }, { b: '2' }, { a: '1', b: '2' }],
    ['a new value of a known key', { a: '1', b: '2' }, { a: '3' }, { a: '3', b: '2' }],
    ['an empty value, which removes the key', { a: '1', b: '2' }, { a: '' }, { b: '2' }],
    ['an empty value of an unknown key', { a: '1' }, { b: '' }, { a: '1' }],
    ['an empty change', { a: '1' }, {}, { a: '1' }],
    ['white space as a value', {}, { a: ' ' }, { a: ' ' }],
  ])('returns the right pairs for %s', (_, current, change, expected) => {
    expect(mergePairs(current, change)).toEqual({ pairs: expected });
  });

  it('does not modify its input', () => {
    const current = { a: '1' };
    mergePairs(current, { a: '2' });
    expect(current).toEqual({ a: '1' });
  });

  it('keeps at most a hundred, not counting removed ones', () => {
    expect(mergePairs(many(60), many(40, 60))).toHaveProperty('pairs');
    expect(mergePairs(many(100), { ...emptied, ...many(60, 200) })).toHaveProperty('pairs');
  });

  it.each([
    ['more than a hundred at once', {}, many(101)],
    ['more than a hundred with those there are', many(60), many(41, 60)],
  ])('is refused for %s', (_, current, change) => {
    expect(mergePairs(current, change)).toEqual({
      problem: 'a configuration can have at most 100 keys',
    });
  });
});

it('a device configuration may have at most 1 MiB of JSON in total', () => {
  const long = (value: string) =>
    Object.fromEntries(Object.keys(many(100)).map((name) => [name, value]));
  expect(mergePairs({}, long('x'.repeat(4096)))).toHaveProperty('pairs');
  const problem = 'a configuration can have at most 1048576 bytes in total';
  expect(mergePairs({}, long('\u0001'.repeat(4096)))).toEqual({ problem });
});

describe('a replacement of a device configuration', () => {
  it('keeps the given pairs except empty ones', () => {
    expect(replacePairs({ a: '1', b: '' })).toEqual({ pairs: { a: '1' } });
    expect(replacePairs({})).toEqual({ pairs: {} });
  });

  it('is refused for more than a hundred keys', () => {
    expect(replacePairs(many(101))).toHaveProperty('problem');
  });
});

describe('configuration pairs that are stored unchanged', () => {
  it('equal the given ones, even with empty values', () => {
    expect(keepPairs({ a: '1', b: '' })).toEqual({ pairs: { a: '1', b: '' } });
    expect(keepPairs({})).toEqual({ pairs: {} });
  });

  it('are limited to a hundred, including empty ones', () => {
    expect(keepPairs(many(100))).toHaveProperty('pairs');
    expect(keepPairs({ ...many(100), empty: '' })).toHaveProperty('problem');
  });
});
