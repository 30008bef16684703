import { describe, expect, it } from 'vitest';
import { verdictOn } from '../testing/results.ts';
import {
  countVerdicts,
  decideMusts,
  outcomeOf,
  tolerateShoulds,
  type VerdictName,
  worstOf,
} from './result.ts';

function outcomes(...names: readonly VerdictName[]) {
  return names.map((verdict) => ({ verdict }));
}

describe('the outcome of several verdicts', () => {
  it.each<[readonly VerdictName[], VerdictName]>([
    [['pass', 'fail', 'error'], 'fail'],
    [['pass', 'error', 'inconclusive'], 'error'],
    [['pass', 'inconclusive', 'skip'], 'inconclusive'],
    [['pass', 'observed', 'skip'], 'pass'],
    [['observed', 'skip'], 'inconclusive'],
    [['skip'], 'inconclusive'],
    [[], 'inconclusive'],
  ])('is for %j the verdict %s', (names, worst) => {
    expect(worstOf(outcomes(...names))).toBe(worst);
  });
});

describe('a run with --fail-on must', () => {
  const failed = { verdict: 'fail', expected: 'a', actual: 'b' } as const;
  const should = verdictOn('service/json-is-labelled', failed);
  const must = verdictOn('authentication/first-contact-is-401', failed);
  const passed = verdictOn('errors/error-says-why', { verdict: 'pass' });

  it('passes despite a violated SHOULD, whose verdict remains a failure', () => {
    const verdicts = tolerateShoulds([should, passed]);
    expect(verdicts).toEqual([{ ...should, tolerated: true }, passed]);
    expect(outcomeOf(verdicts, [])).toBe('pass');
  });

  it.each([
    ['a violated MUST', [must, should], []],
    ['a problem', [should, passed], [{ code: 'waiver-expired', text: 'expired' }]],
  ])('fails with %s in its result', (_, verdicts, problems) => {
    expect(outcomeOf(tolerateShoulds(verdicts), problems)).toBe('fail');
  });

  it('passes when it has only tolerated failures', () => {
    expect(outcomeOf(tolerateShoulds([should]), [])).toBe('pass');
  });
});

describe('the totals of a run', () => {
  it('count each of the six verdicts, including those that do not occur', () => {
    expect(countVerdicts(outcomes('pass', 'pass', 'skip'))).toEqual({
      fail: 0,
      error: 0,
      inconclusive: 0,
      pass: 2,
      observed: 0,
      skip: 1,
    });
  });
});

describe('the count of decided MUST requirements', () => {
  const firstContactId = 'authentication/first-contact-is-401';

  it('has only the violated requirements of a failed case', () => {
    const failed = verdictOn('audit-log/list-is-200', { verdict: 'fail' });
    const { decided } = decideMusts([{ ...failed, violated: ['audit.list'] }]);
    expect([failed.requirements.length > 1, decided]).toEqual([true, 1]);
  });

  it.each<[VerdictName, number]>([
    ['pass', 1],
    ['fail', 1],
    ['inconclusive', 0],
    ['error', 0],
    ['skip', 0],
  ])('has a MUST with the verdict %s this many times: %i', (verdict, decided) => {
    expect(decideMusts([verdictOn(firstContactId, { verdict })]).decided).toBe(decided);
  });

  it('comes with a list of each MUST that no case decided', () => {
    const none = decideMusts([]);
    const ids = none.undecidedMusts.map(({ id }) => id);
    expect(ids).toContain('auth.first-contact-is-401');
    expect(ids).toHaveLength(none.undecided);
    expect(ids).not.toContain('status.final-must-be-reported');
    expect(ids).not.toContain('log.is-replaced');
    expect(new Set(none.undecidedMusts.map(({ reason }) => reason))).toEqual(
      new Set(['no case that tests it was selected']),
    );
  });

  it('comes with the reason of the nearest case for each undecided MUST', () => {
    const reason = { code: 'user', text: 'the target does not offer user' };
    const { undecidedMusts } = decideMusts([
      verdictOn(firstContactId, { verdict: 'skip', reason }),
    ]);
    expect(undecidedMusts).toContainEqual({
      id: 'auth.first-contact-is-401',
      reason: `${firstContactId} skip: the target does not offer user`,
      code: 'user',
    });
  });
});
