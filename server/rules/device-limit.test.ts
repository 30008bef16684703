import { describe, expect, it } from 'vitest';
import { mayAccept } from './device-limit.ts';

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
