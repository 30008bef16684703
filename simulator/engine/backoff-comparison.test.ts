import { describe, expect, it } from 'vitest';
import type { SimulatedDevice } from '../device/device.ts';
import { type BackoffComparison, mergedBackoffComparisons } from '../result/backoff-comparison.ts';
import { mergeResults } from '../result/merge.ts';
import { deviceOf, sessionOf } from '../testing/client-fixture.ts';
import { sampleResult } from '../testing/sample-result.ts';
import { BackoffWatch } from './backoff-watch.ts';

function comparedCohort(cohort: string, change: Partial<BackoffComparison[number]> = {}) {
  return {
    cohort,
    devices: 2,
    requests: 6,
    peakRequestsPerSecond: 3,
    recovered: 2,
    fullRecoveryMs: 1500,
    requestsPerSecond: [3, 2, 1],
    ...change,
  };
}

describe('the merged backoff comparisons of several processes', () => {
  it('add up per second, giving the peak of the whole cohort', () => {
    const one = comparedCohort('calm', { requestsPerSecond: [3, 0, 1], peakRequestsPerSecond: 3 });
    const other = comparedCohort('calm', {
      devices: 3,
      requests: 7,
      recovered: 3,
      requestsPerSecond: [0, 3, 1, 3],
      peakRequestsPerSecond: 3,
      fullRecoveryMs: 3900,
    });
    expect(mergedBackoffComparisons([[one], [other]])).toEqual([
      {
        cohort: 'calm',
        devices: 5,
        requests: 13,
        // The peaks of the shards are in different seconds, so they do not add up.
        peakRequestsPerSecond: 3,
        recovered: 5,
        fullRecoveryMs: 3900,
        requestsPerSecond: [3, 3, 2, 3],
      },
    ]);
    const atOnce = mergedBackoffComparisons([[comparedCohort('calm')], [comparedCohort('calm')]]);
    expect(atOnce).toMatchObject([{ peakRequestsPerSecond: 6, requestsPerSecond: [6, 4, 2] }]);
  });

  it('keep cohorts apart, including one that only one process has', () => {
    const merged = mergedBackoffComparisons([
      [comparedCohort('calm'), comparedCohort('wild')],
      [comparedCohort('wild')],
    ]);
    expect(merged.map(({ cohort, devices }) => [cohort, devices])).toEqual([
      ['calm', 2],
      ['wild', 4],
    ]);
  });

  it('have no recovery time while one shard has not recovered', () => {
    const late = comparedCohort('calm', { recovered: 1, fullRecoveryMs: null });
    expect(mergedBackoffComparisons([[comparedCohort('calm')], [late]])).toMatchObject([
      { devices: 4, recovered: 3, fullRecoveryMs: null },
    ]);
  });

  it('are in the merged result, and absent where no shard has one', () => {
    const part = (index: number) => ({
      ...sampleResult,
      shards: [{ index, of: 2 }],
      devices: [],
      plan: { ...sampleResult.plan, devices: 0 },
    });
    const parts = [part(0), part(1)];
    const compared = parts.map((each) => ({
      ...each,
      backoffComparison: [comparedCohort('calm')],
    }));
    expect(mergeResults(compared).backoffComparison).toMatchObject([
      { devices: 4, peakRequestsPerSecond: 6 },
    ]);
    expect(mergeResults(parts).backoffComparison).toBeUndefined();
  });

  it('are empty when there was nothing to compare', () => {
    expect(mergedBackoffComparisons([])).toEqual([]);
    expect(mergedBackoffComparisons([[]])).toEqual([]);
  });
});

/** Returns a device that had started before the outage. */
async function begun(): Promise<SimulatedDevice> {
  return Object.assign(deviceOf(), { session: await sessionOf() });
}

describe('the watch over cohorts that return after an outage', () => {
  const answered = { status: 204, elapsedMs: 0 };

  it('gives the same figures for merged shards as for one fleet', async () => {
    const devices = [await begun(), await begun(), await begun()];
    const whole = new BackoffWatch(devices);
    const parts = [new BackoffWatch(devices.slice(0, 1)), new BackoffWatch(devices.slice(1))];
    for (const watch of [whole, ...parts]) watch.recordReturn(1000);
    const seen = [100, 1400, 1500, 2999, 400].map((atMs, number) => ({ atMs, number }));
    for (const { atMs, number } of seen) {
      const which = number % devices.length;
      const device = devices[which];
      if (device === undefined) throw new Error('there is no such device');
      for (const watch of [whole, which === 0 ? parts[0] : parts[1]]) {
        watch?.record(device, answered, 1000 + atMs);
      }
    }
    const merged = mergedBackoffComparisons(parts.map((part) => part.comparison() ?? []));
    expect(merged).toEqual(whole.comparison());
    expect(merged).toMatchObject([
      { devices: 3, recovered: 3, fullRecoveryMs: 1500, requestsPerSecond: [2, 2, 1] },
    ]);
  });

  it('counts nothing before the network returns, and no refusal as recovery', async () => {
    const device = await begun();
    const watch = new BackoffWatch([device]);
    watch.record(device, answered, 500);
    expect(watch.comparison()).toBeUndefined();
    watch.recordReturn(1000);
    watch.record(device, { cause: 'transport/OUTAGE', elapsedMs: 0 }, 1100);
    for (const status of [429, 503]) watch.record(device, { status, elapsedMs: 0 }, 1200);
    watch.record(device, { cause: 'timeout', elapsedMs: 0 }, 1300);
    expect(watch.comparison()).toMatchObject([
      { requests: 3, recovered: 0, fullRecoveryMs: null, requestsPerSecond: [3] },
    ]);
  });
});
