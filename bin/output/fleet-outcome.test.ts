import { describe, expect, it } from 'vitest';
import { sampleResult } from '../../simulator/testing/sample-result.ts';
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
  ] as const)('is right for %s', (_what, validity, thresholds, exitCode) => {
    expect(figuresExitCode({ ...sampleResult, validity, thresholds })).toBe(exitCode);
  });
});

describe('the exit code of a fleet without accepted devices', () => {
  const funnel = { ...sampleResult.funnel, success: 0, failure: 0, aborted: 0 };
  const pending = { ...sampleResult, funnel: { ...funnel, waiting: 2, silent: 1 } };
  const signIns = (answers: Readonly<Record<string, number>>) => {
    const [operation] = sampleResult.operations;
    return operation ? [{ ...operation, operation: 'post-auth-request', answers }] : [];
  };
  const thresholdOn = (...texts: readonly string[]) =>
    texts.map((threshold) => ({ threshold, verdict: 'met' as const, observed: '9 ms' }));

  it.each<[string, Partial<typeof pending>, number]>([
    ['decides nothing', {}, 4],
    ['decides nothing when every request was refused', { operations: signIns({ '4xx': 9 }) }, 4],
    [
      'decides nothing, though thresholds are met',
      { thresholds: thresholdOn('errors < 1%', 'p99(auth) < 200ms') },
      4,
    ],
    [
      'decides nothing by a text in a result file that is no threshold',
      { thresholds: thresholdOn('errors zzz') },
      4,
    ],
    [
      'passes when only sign-ins were to be measured',
      { thresholds: thresholdOn('p99(auth) < 200ms', 'rate( post-auth-request ) > 1/s') },
      0,
    ],
    ['passes when devices were accepted before', { operations: signIns({ '2xx': 1 }) }, 0],
    ['passes when one is idle', { funnel: { ...funnel, waiting: 2, idle: 1 } }, 0],
  ])('%s', (_what, change, exitCode) => {
    expect(fleetExitCode({ ...pending, ...change }, {})).toBe(exitCode);
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
