import { describe, expect, it } from 'vitest';
import type { GivenPhase } from '../../fixtures/contract/management/deployments.ts';
import { devicesOfPhases, planPhases } from './phases.ts';

const nowMs = Date.parse('2026-11-21T12:00:00Z');
const hour = (hours: number): string => new Date(nowMs + hours * 3_600_000).toISOString();

function plan(given: readonly GivenPhase[], deviceCount = 10) {
  return planPhases(given, { deviceCount, nowMs });
}

describe('valid phases of a deployment', () => {
  it('begin at once by default, and the last one gets the rest', () => {
    expect(
      plan([{ batch_size: 25 }, { batch_size: 50, start_ts: hour(1) }, { start_ts: hour(2) }]),
    ).toEqual([
      { batchSize: 25, startMs: nowMs, devicesUntil: 2 },
      { batchSize: 50, startMs: nowMs + 3_600_000, devicesUntil: 7 },
      { batchSize: 25, startMs: nowMs + 7_200_000, devicesUntil: 10 },
    ]);
  });

  it('may be a single one with a later start', () => {
    expect(plan([{ start_ts: hour(5) }], 1)).toEqual([
      { batchSize: 100, startMs: nowMs + 18_000_000, devicesUntil: 1 },
    ]);
  });

  it('are empty when none are given', () => {
    expect(plan([])).toEqual([]);
  });
});

describe('the phases of a deployment', () => {
  it.each<[string, readonly GivenPhase[], string, string]>([
    ['without a share', [{}, { start_ts: hour(1) }], 'phases.0.batch_size', 'is required'],
    ['without a start', [{ batch_size: 50 }, {}], 'phases.1.start_ts', 'is required'],
    [
      'below 100 percent',
      [{ batch_size: 99 }],
      'phases.0.batch_size',
      'the batch sizes of all phases must add up to 100 percent',
    ],
    [
      'above 100 percent',
      [{ batch_size: 60 }, { batch_size: 50, start_ts: hour(1) }],
      'phases.1.batch_size',
      'the batch sizes of all phases must add up to 100 percent',
    ],
    [
      'with no percent left for the last',
      [{ batch_size: 100 }, { start_ts: hour(1) }],
      'phases.1.batch_size',
      'the batch sizes of all phases must add up to 100 percent',
    ],
    [
      'that begin at the same time',
      [{ batch_size: 50 }, { start_ts: hour(0) }],
      'phases.1.start_ts',
      'must be later',
    ],
    [
      'that go back in time',
      [{ batch_size: 50, start_ts: hour(2) }, { start_ts: hour(1) }],
      'phases.1.start_ts',
      'must be later',
    ],
    [
      'of no device',
      [{ batch_size: 5 }, { start_ts: hour(1) }],
      'phases.0.batch_size',
      'must cover at least one of 10 devices',
    ],
  ])('are refused: phases %s', (_, given, path, problem) => {
    expect(plan(given)).toEqual({ path, problem: expect.stringContaining(problem) });
  });
});

describe('the device counts of phases', () => {
  const phases = [
    { batchSize: 25, startMs: 0, devicesUntil: 2 },
    { batchSize: 75, startMs: 1, devicesUntil: 10 },
  ];

  it.each([
    [0, [0, 0]],
    [1, [1, 0]],
    [2, [2, 0]],
    [5, [2, 3]],
    [10, [2, 8]],
  ])('are filled in order by %i offers', (offered, expected) => {
    expect(devicesOfPhases(phases, offered)).toEqual(expected);
  });
});
