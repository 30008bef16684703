import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { deploymentPhasesShape, givenPhases } from './deployment-phases.ts';

const DAY_MS = 86_400_000;

function faultOf(phases: readonly object[]): string | undefined {
  return v.safeParse(deploymentPhasesShape, phases).issues?.[0]?.message;
}

describe('phases of a deployment', () => {
  it('become those of the API, which begin at dates', () => {
    const phases = [
      { batchPercent: 10 },
      { batchPercent: 30, afterMs: DAY_MS },
      { afterMs: 3 * DAY_MS },
    ];
    expect(faultOf(phases)).toBeUndefined();
    expect(givenPhases(phases, Date.parse('2026-11-21T12:00:00Z'))).toEqual([
      { batch_size: 10 },
      { batch_size: 30, start_ts: '2026-11-22T12:00:00.000Z' },
      { start_ts: '2026-11-24T12:00:00.000Z' },
    ]);
  });

  it('make up all devices', () => {
    const sum = 'must add up to 100 percent; only the last phase may leave its batch out';
    expect(faultOf([{ batchPercent: 40 }, { batchPercent: 50, afterMs: 1 }])).toBe(sum);
    expect(faultOf([{ batchPercent: 100 }, { afterMs: 1 }])).toBe(sum);
    expect(faultOf([{}, { batchPercent: 50, afterMs: 1 }])).toBe(sum);
    expect(faultOf([{ batchPercent: 40 }, { batchPercent: 60, afterMs: 1 }])).toBeUndefined();
  });

  it('begin one after the other', () => {
    const order = 'must each begin later than the one before (after)';
    expect(faultOf([{ batchPercent: 40 }, {}])).toBe(order);
    expect(faultOf([{ batchPercent: 40, afterMs: 2 }, { afterMs: 2 }])).toBe(order);
  });
});
