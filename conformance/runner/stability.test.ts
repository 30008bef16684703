import { describe, expect, it } from 'vitest';
import type { CaseOutcome, VerdictName } from '../result/result.ts';
import { verdictOn } from '../testing/results.ts';
import { isCutShort, verdictOfAttempts, verdictOfLast } from './stability.ts';

const id = 'authentication/first-contact-is-401';
const attempt = (verdict: VerdictName, more: Partial<CaseOutcome> = {}) =>
  verdictOn(id, { verdict, ...more });
const failed = attempt('fail', { expected: 'status 401', actual: 'status 500' });

describe('several attempts of a case', () => {
  it('have their common verdict, and list each attempt', () => {
    const verdict = verdictOfAttempts([attempt('pass'), attempt('pass'), attempt('pass')]);
    expect(verdict).toMatchObject({ verdict: 'pass', durationMs: 36 });
    expect(verdict.attempts).toEqual(
      Array(3).fill({ verdict: 'pass', startedMs: 0, durationMs: 12 }),
    );
  });

  it.each<[readonly VerdictName[], string]>([
    [['pass', 'pass', 'fail'], 'of 3 attempts: 1 fail, 2 pass'],
    [['fail', 'pass'], 'of 2 attempts: 1 fail, 1 pass'],
    [['pass', 'inconclusive'], 'of 2 attempts: 1 inconclusive, 1 pass'],
    [['fail', 'inconclusive'], 'of 2 attempts: 1 fail, 1 inconclusive'],
    [['skip', 'pass'], 'of 2 attempts: 1 pass, 1 skip'],
    [['error', 'pass'], 'of 2 attempts: 1 error, 1 pass'],
  ])('are inconclusive as unstable when they differ, such as %j', (names, text) => {
    const verdict = verdictOfAttempts(names.map((name) => attempt(name)));
    expect(verdict).toMatchObject({ verdict: 'inconclusive', reason: { code: 'unstable', text } });
  });

  it('keep the exchanges of the worst attempt, without its outcome, when they differ', () => {
    const worst = {
      ...failed,
      exchanges: [{ startMs: 0, request: { line: 'GET /', headers: {} }, elapsedMs: 1 }],
    };
    const verdict = verdictOfAttempts([attempt('pass'), worst]);
    expect(verdict.exchanges).toEqual(worst.exchanges);
    expect(verdict.expected).toBeUndefined();
    expect(verdict.attempts?.[1]).toMatchObject({ actual: 'status 500' });
  });

  it('count as a failure of the case when all fail', () => {
    expect(verdictOfAttempts([failed, failed])).toMatchObject({
      verdict: 'fail',
      actual: 'status 500',
    });
  });

  it('are interrupted, not unstable, when one was interrupted', () => {
    const interrupted = attempt('inconclusive', {
      reason: { code: 'interrupted', text: 'the run was interrupted' },
    });
    expect(verdictOfAttempts([attempt('pass'), interrupted])).toMatchObject({
      verdict: 'inconclusive',
      reason: { code: 'interrupted' },
    });
  });

  it('have the sums of the created and remaining resources', () => {
    const one = { ...attempt('pass'), made: { device: 2 }, leftBehind: ['device 1: no response'] };
    const other = { ...attempt('pass'), made: { device: 1, deployment: 1 } };
    expect(verdictOfAttempts([one, other])).toMatchObject({
      made: { device: 3, deployment: 1 },
      leftBehind: ['device 1: no response'],
    });
  });

  it('are the verdict itself when there is only one', () => {
    expect(verdictOfAttempts([failed])).toBe(failed);
  });

  it('are an error when there are none', () => {
    expect(() => verdictOfAttempts([])).toThrow('without an attempt');
  });
});

describe('a case whose connection was closed', () => {
  const reason = { code: 'connection-closed', text: 'read ECONNRESET' };
  const cut = attempt('inconclusive', { reason });

  it('is distinguished from a case that fails for another reason', () => {
    const late = attempt('inconclusive', { reason: { ...reason, code: 'request-time-limit' } });
    expect([cut, late, failed, undefined].map(isCutShort)).toEqual([true, false, false, false]);
  });

  it('has the verdict of its last run, and lists the earlier runs', () => {
    const verdict = verdictOfLast([cut, failed]);
    expect(verdict).toMatchObject({ verdict: 'fail', actual: 'status 500', durationMs: 24 });
    expect(verdict.reason).toBeUndefined();
    expect(verdict.attempts).toMatchObject([
      { verdict: 'inconclusive', reason },
      { verdict: 'fail' },
    ]);
  });

  it('keeps all runs when it is repeated to measure stability', () => {
    const verdict = verdictOfAttempts([verdictOfLast([cut, attempt('pass')]), attempt('pass')]);
    expect(verdict.verdict).toBe('pass');
    expect(verdict.attempts).toHaveLength(3);
  });
});
