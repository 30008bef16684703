/** The progress of a self-test: a line a minute, and every miss as soon as it is known. */
import type { Clock } from '../../../fixtures/clock.ts';
import type { Output } from '../../output/output.ts';

const LINE_MS = 60_000;

/** What a self-test shows of its rows while it runs. */
export interface ProgressOptions<Row> {
  readonly output: Output;
  readonly clock: Clock;
  /** Number of rows that the self-test runs. */
  readonly total: number;
  /** A row that fails the self-test is shown at once. */
  readonly isMiss: (row: Row) => boolean;
  readonly text: (row: Row) => string;
}

/** Returns what takes the rows as they end. The first of them is shown with its count. */
export function selfTestProgress<Row>(options: ProgressOptions<Row>): (row: Row) => void {
  const { output, clock, total, isMiss, text } = options;
  let done = 0;
  let misses = 0;
  let nextLineMs = clock.monotonicMs();
  return (row) => {
    done += 1;
    if (isMiss(row)) {
      misses += 1;
      output.progress(text(row));
    }
    if (clock.monotonicMs() < nextLineMs && done < total) return;
    nextLineMs = clock.monotonicMs() + LINE_MS;
    output.progress(`${done} of ${total} done, ${misses} missed`);
  };
}
