import { describe, expect, it } from 'vitest';
import { conditionsOf } from './file-body.ts';

const file = { sizeBytes: 100 };

describe('an HTTP date in a conditional request', () => {
  it.each(['0', 'yesterday', '2026-01-31T12:00:00Z', 'Sat, 31 Jan 2026 12:00:00', '2026', ''])(
    'is ignored if invalid: %j',
    (date) => {
      const given = { 'if-modified-since': date, 'if-unmodified-since': date };
      expect(conditionsOf(given, file)).toEqual({});
    },
  );

  it.each([
    'Sat, 31 Jan 2026 12:00:00 GMT',
    'Saturday, 31-Jan-26 12:00:00 GMT',
    'Sat Jan 31 12:00:00 2026',
    'Sun Feb  1 12:00:00 2026',
  ])('is accepted: %j', (date) => {
    const given = { 'if-modified-since': date, 'if-unmodified-since': date };
    expect(conditionsOf(given, file)).toEqual(given);
  });
});

describe('a suffix range header', () => {
  it.each(['bytes=-101', 'bytes = -99999999999999999999'])(
    'means the whole file for %j',
    (range) => {
      expect(conditionsOf({ range }, file)).toEqual({ range: 'bytes=0-' });
    },
  );

  it.each(['bytes=-100', 'bytes=-0', 'bytes=-', 'bytes=200-', 'bytes=-101,0-1', 'lines=-101'])(
    'stays unchanged for %j',
    (range) => {
      expect(conditionsOf({ range }, file)).toEqual({ range });
    },
  );
});
