import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { backOffKinds } from '../plan/policy.ts';
import { backOffMs, retryAfterMaxMs, retryAfterMs } from './retry-after.ts';

const nowMs = Date.UTC(2026, 0, 31, 12);

describe('the Retry-After header', () => {
  it.each([
    ['0', 0],
    ['7', 7000],
    ['Sat, 31 Jan 2026 12:00:30 GMT', 30_000],
    ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
    ['999999', retryAfterMaxMs],
    ['Fri, 31 Dec 2027 00:00:00 GMT', retryAfterMaxMs],
  ])('means by the value %j a wait of %i ms', (header, waitMs) => {
    expect(retryAfterMs(header, nowMs)).toBe(waitMs);
  });

  it.each([
    [undefined],
    [''],
    ['soon'],
    ['-5'],
    ['1.5'],
    ['0x10'],
    ['99999999999'],
    ['2026-01-31T12:00:30Z'],
    ['Sat, 99 Jan 2026 12:00:30 GMT'],
    [['7', '8']],
    [7],
  ])('is ignored with the value %j', (header) => {
    expect(retryAfterMs(header, nowMs)).toBeUndefined();
  });
});

describe('the back-off after failures', () => {
  const backOff = { minMs: 100, maxMs: 5000 };
  const random = seededRandom('x');

  it.each([
    [1, 100],
    [2, 200],
    [3, 400],
    [6, 3200],
    [7, 5000],
    [1000, 5000],
  ])('is after failure %i between half of and the whole of %i ms', (attempt, ceilingMs) => {
    for (let draw = 0; draw < 50; draw++) {
      const waitMs = backOffMs(attempt, backOff, random);
      expect(waitMs).toBeGreaterThanOrEqual(ceilingMs / 2);
      expect(waitMs).toBeLessThanOrEqual(ceilingMs);
    }
  });

  it('differs from draw to draw, so that devices do not return together', () => {
    const waits = Array.from({ length: 20 }, () => backOffMs(7, backOff, random));
    expect(new Set(waits).size).toBeGreaterThan(10);
  });

  it('is the same for the same random value', () => {
    const draw = () => backOffMs(5, backOff, seededRandom('x').stream('device/1'));
    expect(draw()).toBe(draw());
  });

  it.each([
    ['fixed', [100, 100, 100, 100, 100, 100, 100]],
    ['exponential', [100, 200, 400, 800, 1600, 3200, 5000]],
  ] as const)('has no random part for the kind %s', (kind, waits) => {
    const drawn = waits.map((_, index) => backOffMs(index + 1, { ...backOff, kind }, random));
    expect(drawn).toEqual(waits);
  });

  it('is anywhere from zero to the ceiling with full jitter', () => {
    const waits = Array.from({ length: 200 }, () =>
      backOffMs(7, { ...backOff, kind: 'full-jitter' }, random),
    );
    expect(Math.min(...waits)).toBeLessThan(500);
    expect(Math.max(...waits)).toBeGreaterThan(4500);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5000);
  });

  it.each(backOffKinds)('never exceeds its bound for the kind %s', (kind) => {
    expect(backOffMs(1000, { ...backOff, kind }, random)).toBeLessThanOrEqual(5000);
  });
});
