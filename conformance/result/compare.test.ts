import { describe, expect, it } from 'vitest';
import { listCases } from '../conformance.ts';
import { comparisonText } from '../report/differences.ts';
import { resultOf, verdictOn } from '../testing/results.ts';
import { compareReports } from './compare.ts';
import type { CaseOutcome, CaseVerdict } from './result.ts';
import { readReport, type StoredResult } from './schema.ts';

const [one = '', other = ''] = listCases().map(({ id }) => id);

function reportOf(...verdicts: readonly CaseVerdict[]): StoredResult {
  return readReport(JSON.stringify(resultOf(verdicts)));
}

function outcomeWith(verdict: CaseOutcome['verdict'], text = 'a string'): CaseOutcome {
  if (verdict === 'fail') return { verdict, expected: 'status 400', actual: text };
  if (verdict === 'pass') return { verdict };
  if (verdict === 'observed') return { verdict, observation: text };
  return { verdict, reason: { code: 'a-code', text } };
}

function compare(before: CaseOutcome, after: CaseOutcome) {
  return compareReports(reportOf(verdictOn(one, before)), reportOf(verdictOn(one, after)));
}

it('a case that was renamed between two results is the same case', () => {
  const present = 'inventory/value-changes-its-type';
  const { changes, newCases, vanishedCases } = compareReports(
    reportOf({ ...verdictOn(present, outcomeWith('pass')), id: 'inventory/value-of-another-kind' }),
    reportOf(verdictOn(present, outcomeWith('fail'))),
  );
  expect(changes).toMatchObject([{ id: present, kind: 'regression' }]);
  expect([newCases, vanishedCases]).toEqual([[], []]);
});

describe('two results of the same case', () => {
  it.each<[CaseOutcome['verdict'], CaseOutcome['verdict'], string | undefined]>([
    ['pass', 'fail', 'regression'],
    ['observed', 'fail', 'regression'],
    ['inconclusive', 'fail', 'regression'],
    ['skip', 'fail', 'regression'],
    ['fail', 'pass', 'repair'],
    ['fail', 'observed', 'repair'],
    ['pass', 'inconclusive', 'undecided-now'],
    ['pass', 'error', 'undecided-now'],
    ['pass', 'skip', 'undecided-now'],
    ['fail', 'skip', 'undecided-now'],
    ['skip', 'pass', 'decided-now'],
    ['inconclusive', 'observed', 'decided-now'],
    ['pass', 'observed', 'changed-observation'],
    ['skip', 'inconclusive', undefined],
    ['pass', 'pass', undefined],
    ['fail', 'fail', undefined],
  ])('are classified after a change from %s to %s as: %s', (before, after, kind) => {
    const { changes, unchanged } = compare(outcomeWith(before), outcomeWith(after));
    expect(changes.map((change) => change.kind)).toEqual(kind === undefined ? [] : [kind]);
    expect(unchanged).toBe(kind === undefined ? 1 : 0);
  });

  it('differ if both fail with different actual values', () => {
    const { changes } = compare(
      outcomeWith('fail', 'status 204'),
      outcomeWith('fail', 'status 500'),
    );
    expect(changes).toEqual([
      {
        id: one,
        kind: 'other-failure',
        before: { verdict: 'fail', text: 'status 204' },
        after: { verdict: 'fail', text: 'status 500' },
      },
    ]);
  });

  it.each([
    ['answered with 400', 'answered with 404', 'changed-observation'],
    [
      'id 0e2b6ff6-2e0c-4f3a-9d6b-0123456789ab at 2026-11-21T12:00:00.123Z',
      'id 11111111-2e0c-4f3a-9d6b-0123456789ab at 2027-01-01T00:00:00Z',
      undefined,
    ],
    ['serial deadbeef12345678 after 12 ms', 'serial 0011223344556677 after 7 ms', undefined],
    ['keeps 20 of them', 'keeps 30 of them', 'changed-observation'],
  ])('are classified by the observations %s and %s as: %s', (before, after, kind) => {
    const { changes } = compare(outcomeWith('observed', before), outcomeWith('observed', after));
    expect(changes.map((change) => change.kind)).toEqual(kind === undefined ? [] : [kind]);
  });
});

describe('two results with different cases', () => {
  const comparison = compareReports(
    reportOf(verdictOn(one, outcomeWith('pass'))),
    reportOf(verdictOn(other, outcomeWith('fail'))),
  );

  it('contain a new and a removed case, and no regression', () => {
    expect(comparison.newCases).toEqual([{ id: other, verdict: 'fail' }]);
    expect(comparison.vanishedCases).toEqual([{ id: one, verdict: 'pass' }]);
    expect(comparison.changes).toEqual([]);
  });

  it('are compared in lines with the counts at the end', () => {
    const text = comparisonText(comparison);
    expect(text).toContain(`New cases\n  ${other}: fail`);
    expect(text).toContain(`Removed cases\n  ${one}: pass`);
    expect(text).toMatch(/0 regressions, .* 1 new, 1 removed, 0 unchanged$/);
  });

  it('are compared in text that cannot control the terminal', () => {
    const injected = compare(outcomeWith('pass'), outcomeWith('fail', '\u001b[2J\nred'));
    expect(comparisonText(injected).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});
