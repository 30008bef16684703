import { describe, expect, it } from 'vitest';
import { firstContactAfterMs, untilNextPollMs } from './schedule.ts';

const schedule = { devices: 10, rampMs: 5000, pollIntervalMs: 1000 };

describe('the schedule of a fleet', () => {
  it('spreads first contacts evenly over the ramp and lets nobody start after it', () => {
    const starts = Array.from({ length: 10 }, (_, index) => firstContactAfterMs(schedule, index));
    expect(starts).toEqual([0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500]);
  });

  it('lets everybody start at once without a ramp', () => {
    expect(firstContactAfterMs({ ...schedule, rampMs: 0 }, 9)).toBe(0);
  });

  it('never lets a device wait longer than the poll interval, nor not at all', () => {
    for (let index = 0; index < 50; index++) {
      for (const sinceStartMs of [0, 1, 999, 1000, 1001, 123_456.7]) {
        const waitMs = untilNextPollMs(schedule, index, sinceStartMs);
        expect(waitMs).toBeGreaterThan(0);
        expect(waitMs).toBeLessThanOrEqual(1000);
      }
    }
  });

  it('brings a device back at the same phase of every interval', () => {
    const waitMs = untilNextPollMs(schedule, 3, 250);
    expect(untilNextPollMs(schedule, 3, 7250)).toBeCloseTo(waitMs, 6);
    expect(untilNextPollMs(schedule, 3, 250 + waitMs / 2)).toBeCloseTo(waitMs / 2, 6);
  });

  it('lets no two of a hundred devices poll within the same two milliseconds of a second', () => {
    const phases = Array.from({ length: 100 }, (_, index) => untilNextPollMs(schedule, index, 0));
    const sorted = phases.toSorted((one, other) => one - other);
    const gaps = sorted.slice(1).map((phase, index) => phase - (sorted[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(2);
    expect(Math.max(...gaps)).toBeLessThan(30);
  });
});
