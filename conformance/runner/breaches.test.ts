import { describe, expect, it } from 'vitest';
import type { Breach } from '../passive/invariant-judge.ts';
import type { Finding } from '../result/result.ts';
import type { RunnableCase } from '../suite/case.ts';
import { withBreaches } from './breaches.ts';

const response = { status: 500, headers: {} };
const exchange = { startMs: 0, request: { line: 'GET http://host/', headers: {} }, elapsedMs: 1 };
const breach: Breach = {
  requirements: ['errors.no-needless-fault', 'configuration.read'],
  level: 'must',
  operation: 'get-configuration',
  text: 'the status must be below 500, not 500',
  exchange: { ...exchange, response },
};
const observing: RunnableCase = {
  id: 'errors/example',
  title: 'An example.',
  scenario: 'one',
  start: 'nothing',
  level: 'may',
  requirements: ['errors.catalogue'],
  covers: [],
  needs: [],
  risk: 'read',
  turn: undefined,
  arrange: async () => async () => undefined,
};
const judging: RunnableCase = {
  ...observing,
  level: 'must',
  requirements: ['errors.body-is-error'],
};
const observed: Finding = { verdict: 'observed', observation: 'something' };

describe('the breach of an invariant in a case', () => {
  it.each<[string, RunnableCase, Finding]>([
    ['passed', judging, { verdict: 'pass' }],
    ['observed', observing, observed],
    ['was inconclusive', judging, { verdict: 'inconclusive', reason: { code: 'x', text: 'y' } }],
  ])('fails a case that %s', (_, each, own) => {
    const { finding, listing } = withBreaches(each, own, [breach]);
    expect(finding).toEqual({
      verdict: 'fail',
      expected: 'every exchange of get-configuration to keep the contract',
      actual: expect.stringContaining('invariant: get-configuration: the status must be below 500'),
      missed: ['errors.no-needless-fault', 'configuration.read'],
    });
    expect(listing).toMatchObject({
      level: 'must',
      requirements: [...each.requirements, ...breach.requirements],
    });
    expect(listing.sentences).toHaveLength(3);
  });

  it('is added to the failure of the case', () => {
    const own: Finding = { verdict: 'fail', expected: 'a', actual: 'b' };
    const { finding, listing } = withBreaches(judging, own, [breach]);
    expect(finding).toMatchObject({ expected: 'a', actual: 'b' });
    expect(finding.missed).toEqual(['errors.body-is-error', ...breach.requirements]);
    expect(listing.breaches).toEqual([breach]);
  });

  it('does not replace an error of the suite', () => {
    const own: Finding = { verdict: 'error', reason: { code: 'suite-error', text: 'oh' } };
    expect(withBreaches(judging, own, [breach]).finding).toEqual(own);
  });

  it('by a missing response fails only a case that observes', () => {
    const silent: Breach = { ...breach, exchange: { ...exchange, failure: 'no response' } };
    expect(withBreaches(observing, observed, [silent]).finding.verdict).toBe('fail');
    expect(withBreaches(judging, { verdict: 'pass' }, [silent]).finding.verdict).toBe('pass');
  });

  it('does not change the finding when none occurred', () => {
    expect(withBreaches(observing, observed, []).finding).toBe(observed);
  });
});
