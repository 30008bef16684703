import { describe, expect, it } from 'vitest';
import { decideMusts, type ReportedViolation } from '../result/result.ts';
import { resultOf, verdictOn } from '../testing/results.ts';
import { conformanceJunit } from './junit.ts';
import { conformanceReport } from './text.ts';

const violation: ReportedViolation = {
  requirements: ['configuration.read-strings'],
  level: 'must',
  operation: 'get-configuration',
  text: '200 body: /timezone must be a string, not the number 7',
  exchange: { startMs: 0, request: { line: 'GET http://host/', headers: {} }, elapsedMs: 1 },
};
const verdict = verdictOn(
  'errors/odd-request-ids',
  { verdict: 'fail', violated: ['configuration.read-strings'], expected: 'x', actual: 'y' },
  { level: 'must', violations: [violation] },
);
const line =
  'passive check: get-configuration: 200 body: /timezone must be a string, not the number 7 (configuration.read-strings)';

describe('the violation of a passive check in a report', () => {
  it('is shown in the text and in JUnit, by operation and requirement', () => {
    const result = resultOf([verdict]);
    expect(conformanceReport(result)).toContain(`violation ${line}`);
    expect(conformanceJunit(result)).toContain(line);
  });

  it('is counted by operation in the text', () => {
    const row = { operation: 'get-configuration', judged: 9, violated: 2 };
    const requirementsOnAllOperations = [
      { requirement: 'errors.body-is-error', operations: [row], unjudged: ['connect'] },
    ];
    const text = conformanceReport(resultOf([verdict], { requirementsOnAllOperations }));
    expect(text).toContain(
      'errors.body-is-error: get-configuration violated it 2 of 9 times; no exchange of connect was judged',
    );
  });
});

describe('a MUST that applies to all operations', () => {
  const decided = (unjudged: readonly string[]) => {
    const requirement = 'errors.statuses-are-listed';
    const { undecidedMusts } = decideMusts([verdict], [{ requirement, operations: [], unjudged }]);
    return undecidedMusts.find(({ id }) => id === requirement);
  };

  it('is decided only when each operation was judged', () => {
    expect(decided([])).toBeUndefined();
    expect(decided(['connect', 'put-attributes'])?.reason).toBe(
      'no exchange of connect, put-attributes was judged by it',
    );
  });

  it('is undecided when a case that names it is inconclusive', () => {
    const requirement = 'errors.body-is-error';
    const inconclusive = verdictOn('errors/malformed-is-an-error-body', {
      verdict: 'inconclusive',
      reason: { code: 'x', text: 'nothing came' },
    });
    const rows = [{ requirement, operations: [], unjudged: [] }];
    const { undecidedMusts } = decideMusts([inconclusive], rows);
    expect(undecidedMusts.map(({ id }) => id)).toContain(requirement);
  });
});
