import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { deploymentPhases, givenPhases } from './deployment-phases.ts';

function problemOf(phases: readonly object[]): string | undefined {
  return v.safeParse(deploymentPhases, phases).issues?.[0]?.message;
}

describe('the phases of a deployment', () => {
  it('become phases of the API, which begin at dates', () => {
    const phases = v.parse(deploymentPhases, [
      { batch: 10 },
      { batch: 30, after: '1d' },
      { after: '3d' },
    ]);
    expect(givenPhases(phases, Date.parse('2026-11-21T12:00:00Z'))).toEqual([
      { batch_size: 10 },
      { batch_size: 30, start_ts: '2026-11-22T12:00:00.000Z' },
      { start_ts: '2026-11-24T12:00:00.000Z' },
    ]);
  });

  it('must contain all devices together', () => {
    const sum = 'must add up to 100 percent; only the last phase may leave its batch out';
    expect(problemOf([{ batch: 40 }, { batch: 50, after: 1 }])).toBe(sum);
    expect(problemOf([{ batch: 100 }, { after: 1 }])).toBe(sum);
    expect(problemOf([{}, { batch: 50, after: 1 }])).toBe(sum);
    expect(problemOf([{ batch: 40 }, { batch: 60, after: 1 }])).toBeUndefined();
  });

  it('must begin one after the other', () => {
    const order = 'must each begin later than the phase before (after)';
    expect(problemOf([{ batch: 40 }, {}])).toBe(order);
    expect(problemOf([{ batch: 40, after: 2 }, { after: 2 }])).toBe(order);
  });
});
