import { describe, expect, it } from 'vitest';
import type { RunComparison } from '../result/compare.ts';
import { comparisonText } from './comparison-text.ts';

type Row = RunComparison['rows'][number];

const row: Row = {
  subject: 'put-attributes',
  measure: 'p99',
  before: 10,
  after: 25,
  better: 'lower',
  changePercent: 150,
  verdict: 'regression',
  reason: '9 to 11 ms before, 24 to 26 ms after',
};

const notes = ['the plans differ: devices is 10 in one and 20 in the other'];
const textOf = (...rows: readonly Row[]) =>
  comparisonText({ verdict: 'regression', plans: 'different', rows, notes });

describe('the text of a comparison', () => {
  it('shows the verdict, the notes, the differences, and counts of the rest', () => {
    const text = textOf(row, { ...row, verdict: 'no difference' });
    expect(text.split('\n')).toEqual([
      'Comparison of B with A: regression (2 measures: 1 worse, 0 better)',
      '  note: the plans differ: devices is 10 in one and 20 in the other',
      'Worse: 1 measure',
      '  put-attributes  p99  10.0 ms -> 25.0 ms  +150%, lower is better  9 to 11 ms before, 24 to 26 ms after',
      'No difference: 1 measure',
      'Not enough data: 0 measures',
    ]);
  });

  it('shows shares in percent, their change in points, and which way is better', () => {
    const errors = { ...row, measure: 'errors', before: 0, after: 0.0123 } as const;
    expect(textOf(errors)).toContain('0.00% -> 1.23%  +1.2 points, lower is better');
    const success = { ...errors, measure: 'success', better: 'higher', before: 1 } as const;
    const text = textOf({ ...success, after: 0.9, verdict: 'improvement' });
    expect(text).toContain('100.00% -> 90.00%  -10 points, higher is better');
    expect(text).toContain('Better: 1 measure\n');
  });

  it('shows no percentage for a rise from zero', () => {
    expect(textOf({ ...row, before: 0, changePercent: null })).toContain('from 0, lower is better');
  });

  it('never lets the content of a file control the terminal', () => {
    expect(textOf({ ...row, subject: 'x\u001b[2J' })).toContain('x\\u{1b}[2J');
  });
});
