import { describe, expect, it } from 'vitest';
import { verdictOn } from '../testing/results.ts';
import {
  countVerdicts,
  decideMusts,
  outcomeOf,
  tolerating,
  type VerdictName,
  worstOf,
} from './result.ts';

function findings(...names: readonly VerdictName[]) {
  return names.map((verdict) => ({ verdict }));
}

describe('worstOf', () => {
  it.each<[readonly VerdictName[], VerdictName]>([
    [['pass', 'fail', 'error'], 'fail'],
    [['pass', 'error', 'inconclusive'], 'error'],
    [['pass', 'inconclusive', 'skip'], 'inconclusive'],
    [['pass', 'observed', 'skip'], 'pass'],
    [['observed', 'skip'], 'inconclusive'],
    [['skip'], 'inconclusive'],
    [[], 'inconclusive'],
  ])('of %j is %s', (names, worst) => {
    expect(worstOf(findings(...names))).toBe(worst);
  });
});

describe('with --fail-on must', () => {
  const failed = { verdict: 'fail', expected: 'a', actual: 'b' } as const;
  const should = verdictOn('service/json-is-labelled', failed);
  const must = verdictOn('authentication/first-contact-is-401', failed);
  const passed = verdictOn('errors/error-says-why', { verdict: 'pass' });

  it('a missed SHOULD stays a failure that does not fail the run', () => {
    const verdicts = tolerating([should, passed]);
    expect(verdicts).toEqual([{ ...should, tolerated: true }, passed]);
    expect(outcomeOf(verdicts, [])).toBe('pass');
  });

  it.each([
    ['a missed MUST', [must, should], []],
    ['a problem', [should, passed], [{ code: 'waiver-expired', text: 'expired' }]],
  ])('%s fails the run', (_, verdicts, problems) => {
    expect(outcomeOf(tolerating(verdicts), problems)).toBe('fail');
  });

  it('nothing passes by failures alone', () => {
    expect(outcomeOf(tolerating([should]), [])).toBe('inconclusive');
  });
});

describe('countVerdicts', () => {
  it('counts each of the six, also those that never came', () => {
    expect(countVerdicts(findings('pass', 'pass', 'skip'))).toEqual({
      fail: 0,
      error: 0,
      inconclusive: 0,
      pass: 2,
      observed: 0,
      skip: 1,
    });
  });
});

describe('decideMusts', () => {
  const first = 'authentication/first-contact-is-401';

  it('takes of a failed case only what it missed for decided, where it tells', () => {
    const failed = verdictOn('audit-log/list-is-200', { verdict: 'fail' });
    const { decided } = decideMusts([{ ...failed, missed: ['audit.list'] }]);
    expect([failed.requirements.length > 1, decided]).toEqual([true, 1]);
  });

  it.each<[VerdictName, number]>([
    ['pass', 1],
    ['fail', 1],
    ['inconclusive', 0],
    ['error', 0],
    ['skip', 0],
  ])('takes a must with the verdict %s for decided: %i', (verdict, decided) => {
    expect(decideMusts([verdictOn(first, { verdict })]).decided).toBe(decided);
  });

  it('names each must that nothing decided', () => {
    const none = decideMusts([]);
    const ids = none.undecidedMusts.map(({ id }) => id);
    expect(ids).toContain('auth.first-contact-is-401');
    expect(ids).toHaveLength(none.undecided);
    expect(ids).not.toContain('status.final-must-be-reported');
    expect(ids).not.toContain('log.is-replaced');
    expect(new Set(none.undecidedMusts.map(({ because }) => because))).toEqual(
      new Set(['no case that tests it was selected']),
    );
  });

  it('tells for each what kept the nearest case from deciding it', () => {
    const reason = { code: 'operator', text: 'the target does not offer operator' };
    const { undecidedMusts } = decideMusts([verdictOn(first, { verdict: 'skip', reason })]);
    const because = `${first} skip: the target does not offer operator`;
    expect(undecidedMusts).toContainEqual({
      id: 'auth.first-contact-is-401',
      because,
      code: 'operator',
    });
  });
});
