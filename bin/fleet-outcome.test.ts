import { describe, expect, it } from 'vitest';
import { sampleResult } from '../simulator/testing/sample-result.ts';
import { figuresExitCode, fleetExitCode } from './fleet-outcome.ts';

function thresholdWith(verdict: 'met' | 'missed' | 'undecided') {
  return { threshold: 'errors = 0', verdict, observed: '0 of 9 exchanges' };
}

describe('the exit code of the figures', () => {
  it.each([
    ['without thresholds', 'valid', [], 0],
    ['with every threshold met', 'valid', [thresholdWith('met')], 0],
    ['with one missed', 'valid', [thresholdWith('met'), thresholdWith('missed')], 4],
    ['with one that could not be judged', 'valid', [thresholdWith('undecided')], 4],
    ['of a generator at its limit', 'invalid', [], 5],
    [
      'of a generator at its limit, though thresholds are met',
      'invalid',
      [thresholdWith('met')],
      5,
    ],
  ] as const)('%s is right', (_what, validity, thresholds, exitCode) => {
    expect(figuresExitCode({ ...sampleResult, validity, thresholds })).toBe(exitCode);
  });
});

describe('the exit code of the checks', () => {
  const row = { requirement: 'status.is-204', sentence: 'A report is answered 204.' };
  const codeOf = (judged: number, broken: number) => {
    const requirements = [
      { ...row, judged, broken, phases: [], breaches: [] },
      { ...row, judged: 0, broken: 0, phases: [], breaches: [] },
    ];
    const checks = { devices: 1, exchanges: 9, requirements };
    return fleetExitCode({ ...sampleResult, checks }, {});
  };

  it.each([
    ['passes when every requirement was kept', 9, 0, 0],
    ['fails when one was broken, however rarely', 9, 1, 1],
    ['decides nothing when none was met with', 0, 0, 4],
  ])('%s', (_what, judged, broken, exitCode) => {
    expect(codeOf(judged, broken)).toBe(exitCode);
  });
});
