/** Durations of updates, in total and by status. */
import { DurationHistogram } from '../result/histograms.ts';
import type { UpdateFigures } from '../result/result-figures.ts';

/** The event from which an update is measured. */
type UpdateStart = UpdateFigures['whole'][number]['from'];
type FinalState = UpdateFigures['whole'][number]['outcome'];

const separator = ' ';

/** The metrics of updates; durations in milliseconds. */
export class UpdateMetrics {
  readonly #whole = new Map<string, DurationHistogram>();
  readonly #statuses = new Map<string, DurationHistogram>();

  /** Records how long an update was in a status. */
  recordStatus(status: string, durationMs: number): void {
    recordDuration(this.#statuses, status, durationMs);
  }

  /** Records the duration of an update whose final status the server has acknowledged. */
  recordUpdate(from: UpdateStart, outcome: FinalState, durationMs: number): void {
    recordDuration(this.#whole, `${from}${separator}${outcome}`, durationMs);
  }

  figures(): UpdateFigures {
    const updates = [...this.#whole].sort(compareKeys).map(([key, histogram]) => {
      const [from, outcome] = key.split(separator) as [UpdateStart, FinalState];
      return { from, outcome, ...histogram.figures() };
    });
    const statuses = [...this.#statuses].sort(compareKeys).map(([status, histogram]) => {
      return { status, ...histogram.figures() };
    });
    return { whole: updates, statuses };
  }
}

function recordDuration<Key>(
  histograms: Map<Key, DurationHistogram>,
  key: Key,
  durationMs: number,
): void {
  const histogram = histograms.get(key) ?? DurationHistogram.empty();
  histograms.set(key, histogram);
  histogram.record(durationMs);
}

function compareKeys(
  [one]: readonly [string, unknown],
  [other]: readonly [string, unknown],
): number {
  return one < other ? -1 : 1;
}
