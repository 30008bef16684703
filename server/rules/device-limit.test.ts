import { describe, expect, it } from 'vitest';
import { limits } from '../../fixtures/contract/limits.ts';
import { mayAccept, mayWait } from './device-limit.ts';

describe('one more device', () => {
  it.each([
    [-1, 0, true],
    [-1, 1_000_000, true],
    [0, 0, false],
    [1, 0, true],
    [1, 1, false],
    [5, 4, true],
    [5, 6, false],
  ])('with a limit of %s, beside %s accepted ones: %s', (limit, acceptedCount, expected) => {
    expect(mayAccept({ limit, acceptedCount, isAccepted: false })).toBe(expected);
    expect(mayAccept({ limit, acceptedCount, isAccepted: true })).toBe(true);
  });
});

describe('one more key with a limit of 3', () => {
  const place = limits.bytesPerPendingDevice;

  it.each([
    [0, 0, 3 * place + 1, false],
    [0, 0, 3 * place, true],
    [2, 2 * place, place + 1, false],
    [2, 2 * place, place, true],
    [2, 0, 1, true],
    [3, 0, 1, false],
    [4, 0, 0, false],
  ])('beside %s keys of %s bytes, with %s bytes, may wait: %s', (count, bytes, more, expected) => {
    expect(mayWait({ keysMax: 3, count, bytes }, more)).toBe(expected);
  });
});
