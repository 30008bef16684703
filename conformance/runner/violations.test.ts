import { describe, expect, it } from 'vitest';
import type { ExchangeViolation } from '../passive/suite-traffic-judge.ts';
import type { CaseOutcome } from '../result/result.ts';
import type { RunnableCase } from '../suite/case.ts';
import { withViolations } from './violations.ts';

const response = { status: 500, headers: {} };
const exchange = { startMs: 0, request: { line: 'GET http://host/', headers: {} }, elapsedMs: 1 };
const violation: ExchangeViolation = {
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
  effect: 'read',
  order: undefined,
  arrange: async () => async () => undefined,
};
const judging: RunnableCase = {
  ...observing,
  level: 'must',
  requirements: ['errors.body-is-error'],
};
const observed: CaseOutcome = { verdict: 'observed', observation: 'something' };

describe('the violation of a passive check in a case', () => {
  it.each<[string, RunnableCase, CaseOutcome]>([
    ['passed', judging, { verdict: 'pass' }],
    ['observed', observing, observed],
    ['was inconclusive', judging, { verdict: 'inconclusive', reason: { code: 'x', text: 'y' } }],
  ])('fails a case that %s', (_, each, own) => {
    const { outcome, listing } = withViolations(each, own, [violation]);
    expect(outcome).toEqual({
      verdict: 'fail',
      expected: 'every exchange of get-configuration to keep the contract',
      actual: expect.stringContaining(
        'passive check: get-configuration: the status must be below 500',
      ),
      violated: ['errors.no-needless-fault', 'configuration.read'],
    });
    expect(listing).toMatchObject({
      level: 'must',
      requirements: [...each.requirements, ...violation.requirements],
    });
    expect(listing.sentences).toHaveLength(3);
  });

  it('is added to the failure of the case', () => {
    const own: CaseOutcome = { verdict: 'fail', expected: 'a', actual: 'b' };
    const { outcome, listing } = withViolations(judging, own, [violation]);
    expect(outcome).toMatchObject({ expected: 'a', actual: 'b' });
    expect(outcome.violated).toEqual(['errors.body-is-error', ...violation.requirements]);
    expect(listing.violations).toEqual([violation]);
  });

  it('does not replace an error of the suite', () => {
    const own: CaseOutcome = { verdict: 'error', reason: { code: 'suite-error', text: 'oh' } };
    expect(withViolations(judging, own, [violation]).outcome).toEqual(own);
  });

  it('fails only a case that observes if a response is missing', () => {
    const silent: ExchangeViolation = {
      ...violation,
      exchange: { ...exchange, failure: 'no response' },
    };
    expect(withViolations(observing, observed, [silent]).outcome.verdict).toBe('fail');
    expect(withViolations(judging, { verdict: 'pass' }, [silent]).outcome.verdict).toBe('pass');
  });

  it('does not change the outcome when none occurred', () => {
    expect(withViolations(observing, observed, []).outcome).toBe(observed);
  });
});
