import { describe, expect, it } from 'vitest';
import { limits } from '../../fixtures/contract/limits.ts';
import { mayAccept, mayRecordKey } from './device-limit.ts';

describe('accepting one more device', () => {
  it.each([
    [-1, 0, true],
    [-1, 1_000_000, true],
    [0, 0, false],
    [1, 0, true],
    [1, 1, false],
    [5, 4, true],
    [5, 6, false],
  ])('is allowed with limit %s and %s accepted ones: %s', (limit, acceptedCount, expected) => {
    expect(mayAccept({ limit, acceptedCount, isAccepted: false })).toBe(expected);
    expect(mayAccept({ limit, acceptedCount, isAccepted: true })).toBe(true);
  });
});

describe('one more pending key (limit 3)', () => {
  const bytesPerKey = limits.bytesPerUnacceptedKey;

  it.each([
    [0, 0, 3 * bytesPerKey + 1, false],
    [0, 0, 3 * bytesPerKey, true],
    [2, 2 * bytesPerKey, bytesPerKey + 1, false],
    [2, 2 * bytesPerKey, bytesPerKey, true],
    [2, 0, 1, true],
    [3, 0, 1, false],
    [4, 0, 0, false],
  ])('is allowed with %s keys of %s bytes and %s new bytes: %s', (count, bytes, more, expected) => {
    expect(mayRecordKey({ keysMax: 3, count, bytes }, more)).toBe(expected);
  });
});
