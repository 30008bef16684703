import { describe, expect, it } from 'vitest';
import type { Comparison } from './compare.ts';
import { comparisonText } from './comparison-text.ts';

type Row = Comparison['rows'][number];

const row: Row = {
  subject: 'put-attributes',
  measure: 'p99',
  before: 10,
  after: 25,
  verdict: 'regression',
  because: '9 to 11 ms before, 24 to 26 ms after',
};

const notes = ['the plans differ: devices is 10 and 20'];
const textOf = (...rows: readonly Row[]) =>
  comparisonText({ verdict: 'regression', plans: 'different', rows, notes });

describe('the text of a comparison', () => {
  it('shows the verdict, notes, what differs, and counts of the rest', () => {
    const text = textOf(row, { ...row, verdict: 'no difference' });
    expect(text.split('\n')).toEqual([
      'Comparison: regression',
      '  note: the plans differ: devices is 10 and 20',
      'Regressions: 1',
      '  put-attributes  p99  10.0ms -> 25.0ms  9 to 11 ms before, 24 to 26 ms after',
      'No difference: 1 measures',
      'Not enough data: 0 measures',
    ]);
  });

  it('shows shares in percent', () => {
    const errors = { ...row, measure: 'errors', before: 0, after: 0.0123 } as const;
    expect(textOf(errors)).toContain('0.00% -> 1.23%');
  });

  it('lets nothing of a file steer the terminal', () => {
    expect(textOf({ ...row, subject: 'x\u001b[2J' })).toContain('x\\u{1b}[2J');
  });
});
