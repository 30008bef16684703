import { describe, expect, it } from 'vitest';
import {
  hasBegun,
  isProvisioned,
  provisionedSinceMs,
  provisioningDelayMs,
} from './provisioning.ts';

const at = { dialects: new Set([]), provisioningDelayMs: 1000 };
const late = {
  dialects: new Set(['asynchronous-provisioning'] as const),
  provisioningDelayMs: 1000,
};

describe('the records of a device', () => {
  it.each([undefined, 0, 4000, 5000])('exist at once, even if accepted at %s', (acceptedMs) => {
    expect(isProvisioned({ acceptedMs }, at, 5000)).toBe(true);
    expect([provisionedSinceMs(at, 5000), provisioningDelayMs(at)]).toEqual([undefined, 0]);
  });

  it.each([
    [undefined, false],
    [5000, false],
    [4001, false],
    [4000, true],
    [0, true],
  ])('exist with a delay, accepted at %s, at 5000: %s', (acceptedMs, expected) => {
    expect(isProvisioned({ acceptedMs }, late, 5000)).toBe(expected);
  });

  it('become available after the delay', () => {
    expect([provisionedSinceMs(late, 5000), provisioningDelayMs(late)]).toEqual([4000, 1000]);
  });
});

describe('a new deployment under delayed provisioning', () => {
  it('has begun at its creation time, or always without a delay', () => {
    const begun = (createdMs: number, settings: Parameters<typeof hasBegun>[1]) =>
      hasBegun({ createdMs }, settings, 5000);
    expect([begun(5000, late), begun(5001, late), begun(5001, at)]).toEqual([true, false, true]);
  });
});
