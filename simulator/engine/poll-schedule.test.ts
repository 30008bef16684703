import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { firstContactAfterMs, type Poller, untilNextPollMs } from './poll-schedule.ts';

const ramp = { devices: 10, rampMs: 5000 };
const random = seededRandom('x');

function poller(index: number, differs: Partial<Poller['policy']> = {}): Poller {
  const policy = {
    pollIntervalMs: 1000,
    pollJitterShare: 0,
    pollSpread: 'even' as const,
    ...differs,
  };
  return { index, policy, random };
}

/** Returns when a hundred devices poll for the first time, earliest first. */
function firstPolls(differs: Partial<Poller['policy']> = {}): number[] {
  const waits = Array.from({ length: 100 }, (_, index) =>
    untilNextPollMs(poller(index, differs), 0),
  );
  return waits.toSorted((one, other) => one - other);
}

describe('the first contacts of a fleet', () => {
  it('are spread evenly over the ramp, and no device starts after it', () => {
    const starts = Array.from({ length: 10 }, (_, index) => firstContactAfterMs(ramp, index));
    expect(starts).toEqual([0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500]);
  });

  it('are all at once without a ramp', () => {
    expect(firstContactAfterMs({ ...ramp, rampMs: 0 }, 9)).toBe(0);
  });
});

describe.each(['even', 'random', 'lockstep'] as const)('polls spread as %s', (pollSpread) => {
  it('are due within one interval, but never at once', () => {
    for (let index = 0; index < 50; index++) {
      for (const sinceStartMs of [0, 1, 999, 1000, 1001, 123_456.7]) {
        const waitMs = untilNextPollMs(poller(index, { pollSpread }), sinceStartMs);
        expect(waitMs).toBeGreaterThanOrEqual(2);
        expect(waitMs).toBeLessThan(1002);
      }
    }
  });

  it('happen once for each slot, even when a timer fires slightly early', () => {
    for (const index of [0, 1, 7]) {
      const dueMs = untilNextPollMs(poller(index, { pollSpread }), 0);
      for (const earlyMs of [1.5, 0.4, 1e-9]) {
        const waitMs = untilNextPollMs(poller(index, { pollSpread }), dueMs - earlyMs);
        expect(waitMs).toBeCloseTo(1000 + earlyMs, 6);
      }
    }
  });

  it('recur at the same time in every interval', () => {
    const device = poller(3, { pollSpread });
    const waitMs = untilNextPollMs(device, 250);
    expect(untilNextPollMs(device, 7250)).toBeCloseTo(waitMs, 6);
    expect(untilNextPollMs(device, 250 + waitMs / 2)).toBeCloseTo(waitMs / 2, 6);
  });
});

describe('the spread of polls', () => {
  it('keeps a hundred devices two milliseconds apart within a second when it is even', () => {
    const polls = firstPolls();
    const gaps = polls.slice(1).map((poll, index) => poll - (polls[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(2);
    expect(Math.max(...gaps)).toBeLessThan(30);
  });

  it('makes all devices poll at the same time when it is lockstep', () => {
    expect(new Set(firstPolls({ pollSpread: 'lockstep' }))).toEqual(new Set([1000]));
  });

  it('spreads polls unevenly when it is random, and repeats with the seed', () => {
    const polls = firstPolls({ pollSpread: 'random' });
    const gaps = polls.slice(1).map((poll, index) => poll - (polls[index] ?? 0));
    expect(Math.min(...gaps)).toBeLessThan(2);
    expect([polls[0], polls.at(-1)].map((poll) => Math.round((poll ?? 0) / 1000))).toEqual([0, 1]);
    expect(firstPolls({ pollSpread: 'random' })).toEqual(polls);
  });
});

describe('the jitter of polls', () => {
  const late = { pollSpread: 'lockstep', pollJitterShare: 0.25 } as const;

  it('makes polls late by up to its share of the interval, and never early', () => {
    const polls = firstPolls(late);
    expect(polls[0]).toBeGreaterThanOrEqual(1000);
    expect(polls.at(-1)).toBeLessThan(1250);
    expect(new Set(polls.map(Math.round)).size).toBeGreaterThan(50);
  });

  it('differs from poll to poll of one device, and does not accumulate', () => {
    const device = poller(0, late);
    let nowMs = 0;
    const delays = Array.from({ length: 20 }, (_, poll) => {
      nowMs += untilNextPollMs(device, nowMs);
      return nowMs - 1000 * (poll + 1);
    });
    expect(new Set(delays.map(Math.round)).size).toBeGreaterThan(15);
    expect(Math.max(...delays)).toBeLessThan(250);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  });
});
