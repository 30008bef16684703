import { describe, expect, it } from 'vitest';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { ReportedViolation } from '../result/result.ts';
import { verdictOn } from '../testing/results.ts';
import { statusBecomes } from './alterations.ts';
import type { Defect } from './defect.ts';
import { judgeDefect } from './judgement.ts';
import { chosenCases, type MatrixRow, sampleOf } from './matrix.ts';
import { kindTable } from './report/kind-table.ts';

const id = 'configuration/set-by-user-is-read';
const defect: Defect = {
  id: 'configuration-is-404',
  title: 'Reading is answered with 404.',
  violates: ['configuration.read'],
  operations: ['get-configuration'],
  alter: statusBecomes(200, 404),
};
const exchange = { startMs: 0, request: { line: 'GET http://host/', headers: {} }, elapsedMs: 1 };

function violationOn(operation: string): ReportedViolation {
  const requirements = ['errors.body-is-error'];
  return { requirements, level: 'must', operation, text: '404 body must be JSON', exchange };
}

function judged(violated: readonly RequirementId[], violations?: readonly ReportedViolation[]) {
  const more = violations ? { violations } : {};
  const verdict = verdictOn(id, { verdict: 'fail', violated, expected: 'x', actual: 'y' }, more);
  return judgeDefect(defect, { verdicts: [verdict], changes: 1 });
}

describe('a case that fails only by a passive check', () => {
  it('is neither a kill nor a false failure on an operation of the defect', () => {
    const result = judged(['errors.body-is-error'], [violationOn('get-configuration')]);
    expect(result).toMatchObject({
      outcome: 'survived',
      falseFailures: [],
      alsoViolates: ['errors.body-is-error'],
    });
  });

  it('is a false failure on an operation outside the defect', () => {
    const result = judged(['errors.body-is-error'], [violationOn('put-configuration')]);
    expect(result.falseFailures).toMatchObject([{ caseId: id }]);
  });

  it('is a false failure when it also violates another requirement', () => {
    const violated = ['errors.body-is-error', 'configuration.set-by-user'] as const;
    const result = judged(violated, [violationOn('get-configuration')]);
    expect(result.falseFailures).toMatchObject([{ caseId: id }]);
  });

  it('is a kill when the defect violates the requirement of the passive check', () => {
    expect(judged(['configuration.read'], [violationOn('get-configuration')])).toMatchObject({
      outcome: 'killed',
      alsoViolates: [],
    });
  });
});

describe('a failed case with a general requirement', () => {
  it('is neither a kill nor a false failure of a defect in one part', () => {
    expect(judged(['service.legal-values'])).toMatchObject({
      outcome: 'survived',
      falseFailures: [],
      alsoViolates: ['service.legal-values'],
    });
  });
});

describe('the sample of cases for a defect', () => {
  const touched = new Set(Array.from({ length: 100 }, (_, index) => `a/${index}`));

  it('contains all cases without a sample size, and otherwise depends on the defect', () => {
    expect(sampleOf(defect, touched)).toBe(touched);
    const [one, again] = [0, 1].map(() => [...sampleOf({ ...defect, sample: 7 }, touched)]);
    expect(one).toHaveLength(7);
    expect(again).toEqual(one);
    expect([...sampleOf({ ...defect, id: 'other', sample: 7 }, touched)]).not.toEqual(one);
  });

  it('contains all cases of the violated requirement and forty others by default', () => {
    const named = new Map([...touched].slice(0, 30).map((id) => [id, defect.violates]));
    const chosen = chosenCases(defect, touched, named);
    expect(chosen.size).toBe(70);
    expect([...named.keys()].filter((id) => !chosen.has(id))).toEqual([]);
    expect(chosenCases({ ...defect, sample: 7 }, touched, named).size).toBe(7);
  });
});

describe('the table of defect kinds', () => {
  it('counts planted and killed defects, and leaves impossible cells empty', () => {
    const row = (kind: string, operation: string, outcome: MatrixRow['outcome']): MatrixRow => ({
      ...judgeDefect(defect, { verdicts: [], changes: 0 }),
      title: '',
      violates: [],
      untouched: 0,
      kind,
      operation,
      outcome,
    });
    const rows = [
      row('fault', 'get-configuration', 'killed'),
      row('fault', 'get-configuration', 'survived'),
      row('label', 'connect', 'killed'),
    ];
    expect(kindTable({ rows })).toEqual({
      kinds: ['fault', 'label'],
      operations: [
        { operation: 'get-configuration', cells: [{ planted: 2, killed: 1 }, undefined] },
        { operation: 'connect', cells: [undefined, { planted: 1, killed: 1 }] },
      ],
    });
  });
});
