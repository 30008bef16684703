import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../fixtures/base/clock.ts';
import { createOutput } from '../../output/output.ts';
import { selfTestProgress } from './self-test-progress.ts';

const SECOND_MS = 1000;

/** Returns the progress lines of a self-test with these rows, one row a second. */
function linesOf(rows: readonly string[], failed: readonly string[] = []): readonly string[] {
  const clock = new ManualClock(0);
  const lines: string[] = [];
  const output = { ...createOutput(true), progress: (line: string) => lines.push(line) };
  const isFailed = (row: string) => failed.includes(row);
  const options = { output, clock, total: rows.length, isFailed, text: (row: string) => row };
  const onRow = selfTestProgress(options);
  for (const row of rows) {
    onRow(row);
    clock.advance(SECOND_MS);
  }
  return lines;
}

describe('the progress of a self-test', () => {
  it('prints a line at the first row, each minute and at the last row', () => {
    const rows = Array.from({ length: 130 }, (_, index) => `row ${index}`);
    expect(linesOf(rows)).toEqual([
      '1 of 130 done, 0 failed',
      '61 of 130 done, 0 failed',
      '121 of 130 done, 0 failed',
      '130 of 130 done, 0 failed',
    ]);
  });

  it('shows every failed row at once, and counts the failed rows in later lines', () => {
    expect(linesOf(['one', 'two', 'three'], ['two'])).toEqual([
      '1 of 3 done, 0 failed',
      'two',
      '3 of 3 done, 1 failed',
    ]);
  });
});
