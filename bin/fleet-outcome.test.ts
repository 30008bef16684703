import { describe, expect, it } from 'vitest';
import { sampleResult } from '../simulator/testing/sample-result.ts';
import { figuresExitCode } from './fleet-outcome.ts';

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
