import { describe, expect, it } from 'vitest';
import { keepSettings, mergeSettings, replaceSettings } from './configuration.ts';

function many(count: number, from = 0): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${from + i}`, 'v']));
}

const emptied = Object.fromEntries(Object.keys(many(100)).map((name) => [name, '']));

describe('the merge of device settings', () => {
  it.each([
    ['a new setting', { a: '1' }, { b: '2' }, { a: '1', b: '2' }],
    ['a new value of a known setting', { a: '1', b: '2' }, { a: '3' }, { a: '3', b: '2' }],
    ['an empty value, which removes the setting', { a: '1', b: '2' }, { a: '' }, { b: '2' }],
    ['an empty value of an unknown setting', { a: '1' }, { b: '' }, { a: '1' }],
    ['an empty change', { a: '1' }, {}, { a: '1' }],
    ['white space as a value', {}, { a: ' ' }, { a: ' ' }],
  ])('returns the right settings for %s', (_, current, change, expected) => {
    expect(mergeSettings(current, change)).toEqual({ settings: expected });
  });

  it('does not modify its input', () => {
    const current = { a: '1' };
    mergeSettings(current, { a: '2' });
    expect(current).toEqual({ a: '1' });
  });

  it('keeps at most a hundred, not counting removed ones', () => {
    expect(mergeSettings(many(60), many(40, 60))).toHaveProperty('settings');
    expect(mergeSettings(many(100), { ...emptied, ...many(60, 200) })).toHaveProperty('settings');
  });

  it.each([
    ['more than a hundred at once', {}, many(101)],
    ['more than a hundred with those there are', many(60), many(41, 60)],
  ])('is refused for %s', (_, current, change) => {
    expect(mergeSettings(current, change)).toEqual({
      reason: 'a device can have at most 100 settings',
    });
  });
});

it('device settings may have at most 1 MiB of JSON in total', () => {
  const long = (value: string) =>
    Object.fromEntries(Object.keys(many(100)).map((name) => [name, value]));
  expect(mergeSettings({}, long('x'.repeat(4096)))).toHaveProperty('settings');
  const reason = 'the settings of a device can have at most 1048576 bytes in total';
  expect(mergeSettings({}, long('\u0001'.repeat(4096)))).toEqual({ reason });
});

describe('a replacement of device settings', () => {
  it('keeps the given settings except empty ones', () => {
    expect(replaceSettings({ a: '1', b: '' })).toEqual({ settings: { a: '1' } });
    expect(replaceSettings({})).toEqual({ settings: {} });
  });

  it('is refused for more than a hundred settings', () => {
    expect(replaceSettings(many(101))).toHaveProperty('reason');
  });
});

describe('device settings that are stored unchanged', () => {
  it('equal the given ones, even with empty values', () => {
    expect(keepSettings({ a: '1', b: '' })).toEqual({ settings: { a: '1', b: '' } });
    expect(keepSettings({})).toEqual({ settings: {} });
  });

  it('are limited to a hundred, including empty ones', () => {
    expect(keepSettings(many(100))).toHaveProperty('settings');
    expect(keepSettings({ ...many(100), empty: '' })).toHaveProperty('reason');
  });
});
