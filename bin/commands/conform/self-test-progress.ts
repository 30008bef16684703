/** Prints the progress of a self-test: one line a minute, and each row that fails it at once. */
import type { Clock } from '../../../fixtures/base/clock.ts';
import type { Output } from '../../output/output.ts';

const LINE_MS = 60_000;

/** How the progress of a self-test is printed. */
export interface ProgressOptions<Row> {
  readonly output: Output;
  readonly clock: Clock;
  /** Number of rows that the self-test runs. */
  readonly total: number;
  /** True for a row that fails the self-test; such a row is printed at once. */
  readonly isFailed: (row: Row) => boolean;
  readonly text: (row: Row) => string;
}

/** Returns a function to call with each finished row. The first call also prints the count. */
export function selfTestProgress<Row>(options: ProgressOptions<Row>): (row: Row) => void {
  const { output, clock, total, isFailed, text } = options;
  let doneCount = 0;
  let failedCount = 0;
  let nextLineMs = clock.monotonicMs();
  return (row) => {
    doneCount += 1;
    if (isFailed(row)) {
      failedCount += 1;
      output.progress(text(row));
    }
    if (clock.monotonicMs() < nextLineMs && doneCount < total) return;
    nextLineMs = clock.monotonicMs() + LINE_MS;
    output.progress(`${doneCount} of ${total} done, ${failedCount} failed`);
  };
}
