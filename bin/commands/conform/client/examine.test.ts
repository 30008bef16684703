import { describe, expect, it } from 'vitest';
import type { Examination } from '../../../../conformance/clients/report/examination.ts';
import { sampleExamination } from '../../../../conformance/clients/testing/sample-examination.ts';
import { exitCodeOf } from './examine.ts';

const [sample] = sampleExamination.duties;
if (sample === undefined) throw new Error('the sample has no duty');
const mustIn = (state: Examination['duties'][number]['state']) => [
  { ...sample, level: 'must' as const, state },
];

describe('the exit code of an examination', () => {
  it.each([
    ['kept', 'kept', false, 0],
    ['kept', 'not-exercised', false, 0],
    ['kept', 'not-exercised', true, 1],
    ['kept', 'open', true, 1],
    ['kept', 'not-applicable', true, 0],
    ['inconclusive', 'kept', false, 4],
    ['inconclusive', 'not-judged', true, 1],
    ['broken', 'kept', false, 1],
    ['kept', 'broken', false, 1],
    ['interrupted', 'kept', false, 130],
  ] as const)(
    'follows from the outcome %s, a MUST that is %s and --require-all-must %s: %i',
    (outcome, state, requireAllMust, code) => {
      const examination = { ...sampleExamination, outcome, duties: mustIn(state) };
      expect(exitCodeOf(examination, requireAllMust)).toBe(code);
    },
  );
});
