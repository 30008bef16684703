import { describe, expect, it } from 'vitest';
import { deviceRowOf, sampleResult } from '../testing/sample-result.ts';
import type { DeviceRow } from './result.ts';
import { timeToPercentMs, updateTimes } from './update-times.ts';

function timesOf(devices: readonly DeviceRow[], deployedMs?: number) {
  const { deployedMs: _, ...result } = sampleResult;
  return updateTimes({ ...result, devices, ...(deployedMs !== undefined && { deployedMs }) });
}

const updated = (index: number, finishedMs: number) =>
  deviceRowOf(index, { outcome: 'success', offeredMs: 1000, finishedMs });

describe('the times of a roll-out', () => {
  it('are counted from the deployment', () => {
    const times = timesOf([updated(0, 3000), updated(1, 2000)], 500);
    expect(timeToPercentMs(times, 50)).toBe(1500);
    expect(timeToPercentMs(times, 100)).toBe(2500);
  });

  it('are counted from the first offer when the run has no deployment of its own', () => {
    expect(timeToPercentMs(timesOf([updated(0, 3000)]), 100)).toBe(2000);
  });

  it('are undefined for a share that the fleet did not reach', () => {
    const failed = deviceRowOf(2, { outcome: 'failure', offeredMs: 1000, finishedMs: 1500 });
    const times = timesOf([updated(0, 2000), updated(1, 3000), failed], 1000);
    expect(timeToPercentMs(times, 50)).toBe(2000);
    expect(timeToPercentMs(times, 67)).toBeUndefined();
    expect(timeToPercentMs(times, 100)).toBeUndefined();
  });

  it('count a device that already had the artifact as updated at once', () => {
    const had = deviceRowOf(1, { outcome: 'already-installed' });
    expect(timeToPercentMs(timesOf([updated(0, 3000), had], 1000), 50)).toBe(0);
  });

  it.each([
    [[]],
    [[deviceRowOf(0, { outcome: 'success' })]],
    [[deviceRowOf(0, { outcome: 'idle' })]],
  ])('are undefined without a start or an end: %j', (devices) => {
    expect(timeToPercentMs(timesOf(devices), 50)).toBeUndefined();
  });
});
