import { describe, expect, it } from 'vitest';
import { keepSettings, mergeSettings, replaceSettings } from './configuration.ts';

function many(count: number, from = 0): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${from + i}`, 'v']));
}

const emptied = Object.fromEntries(Object.keys(many(100)).map((name) => [name, '']));

describe('settings that are merged', () => {
  it.each([
    ['a new one is added', { a: '1' }, { b: '2' }, { a: '1', b: '2' }],
    ['a known one is changed', { a: '1', b: '2' }, { a: '3' }, { a: '3', b: '2' }],
    ['an empty one goes', { a: '1', b: '2' }, { a: '' }, { b: '2' }],
    ['an unknown empty one is nothing', { a: '1' }, { b: '' }, { a: '1' }],
    ['no change leaves all', { a: '1' }, {}, { a: '1' }],
    ['white space is a value', {}, { a: ' ' }, { a: ' ' }],
  ])('%s', (_, current, change, expected) => {
    expect(mergeSettings(current, change)).toEqual({ settings: expected });
  });

  it('does not touch what it was given', () => {
    const current = { a: '1' };
    mergeSettings(current, { a: '2' });
    expect(current).toEqual({ a: '1' });
  });

  it('are at most a hundred, those that go not counted', () => {
    expect(mergeSettings(many(60), many(40, 60))).toHaveProperty('settings');
    expect(mergeSettings(many(100), { ...emptied, ...many(60, 200) })).toHaveProperty('settings');
  });

  it.each([
    ['more than a hundred at once', {}, many(101)],
    ['more than a hundred with those there are', many(60), many(41, 60)],
  ])('are refused when there are %s', (_, current, change) => {
    expect(mergeSettings(current, change)).toEqual({
      because: 'a device can have at most 100 settings',
    });
  });
});

it('settings have at most 1 MiB together, in the length of their JSON', () => {
  const long = (value: string) =>
    Object.fromEntries(Object.keys(many(100)).map((name) => [name, value]));
  expect(mergeSettings({}, long('x'.repeat(4096)))).toHaveProperty('settings');
  const because = 'the settings of a device can have at most 1048576 bytes in total';
  expect(mergeSettings({}, long('\u0001'.repeat(4096)))).toEqual({ because });
});

describe('settings that are replaced', () => {
  it('are the given ones without the empty ones', () => {
    expect(replaceSettings({ a: '1', b: '' })).toEqual({ settings: { a: '1' } });
    expect(replaceSettings({})).toEqual({ settings: {} });
  });

  it('are refused beyond a hundred', () => {
    expect(replaceSettings(many(101))).toHaveProperty('because');
  });
});

describe('settings that are kept as they are', () => {
  it('are what was given, empty values too', () => {
    expect(keepSettings({ a: '1', b: '' })).toEqual({ settings: { a: '1', b: '' } });
    expect(keepSettings({})).toEqual({ settings: {} });
  });

  it('are at most a hundred, empty ones counted', () => {
    expect(keepSettings(many(100))).toHaveProperty('settings');
    expect(keepSettings({ ...many(100), empty: '' })).toHaveProperty('because');
  });
});
