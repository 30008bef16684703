/** The outcomes of the exchanges of one phase, counted by operation. */
import type { NoAnswerKind } from '../network/errors.ts';
import { DurationHistogram } from '../result/histograms.ts';
import type { OperationCount, OperationLatency } from '../result/result-figures.ts';

interface Entry {
  readonly latencies: DurationHistogram;
  readonly answers: Record<string, number>;
  readonly silences: Record<NoAnswerKind, number>;
  signatureRefusals: number;
}

/** Status classes by first digit. Looking one up avoids building a string for every exchange. */
const classes = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx', '6xx', '7xx', '8xx', '9xx'];

/** The metrics of one phase or of a whole run, by operation. */
export class OperationMetrics {
  readonly #entries = new Map<string, Entry>();

  answered(operation: string, status: number, latencyMs: number): void {
    const { answers, latencies } = this.#entry(operation);
    const statusClass = classes[Math.floor(status / 100)] ?? '0xx';
    answers[statusClass] = (answers[statusClass] ?? 0) + 1;
    latencies.record(latencyMs);
  }

  unanswered(operation: string, silence: NoAnswerKind): void {
    this.#entry(operation).silences[silence]++;
  }

  signatureRefused(operation: string): void {
    this.#entry(operation).signatureRefusals++;
  }

  /** Returns the counts by operation. */
  counts(): OperationCount[] {
    return this.#sorted().map(([operation, { answers, silences: of, signatureRefusals }]) => ({
      operation,
      answers: sortedCounts(answers),
      unanswered: of.timeout + of.reset + of.refused + of.other,
      timeouts: of.timeout,
      resets: of.reset,
      refusedConnections: of.refused,
      otherErrors: of.other,
      signatureRefusals,
    }));
  }

  /** Returns the histogram of each operation that got a response. */
  histograms(): ReadonlyMap<string, DurationHistogram> {
    const answered = this.#sorted().filter(([, { latencies }]) => latencies.count > 0);
    return new Map(answered.map(([operation, { latencies }]) => [operation, latencies]));
  }

  latencies(): OperationLatency[] {
    return [...this.histograms()].map(([operation, histogram]) => {
      return { operation, ...histogram.figures() };
    });
  }

  /** Returns the entries by name, so that results do not depend on which operation came first. */
  #sorted(): [string, Entry][] {
    return [...this.#entries].sort(([one], [other]) => (one < other ? -1 : 1));
  }

  #entry(operation: string): Entry {
    const known = this.#entries.get(operation);
    if (known) return known;
    const entry = {
      latencies: DurationHistogram.empty(),
      answers: {},
      silences: { timeout: 0, reset: 0, refused: 0, other: 0 },
      signatureRefusals: 0,
    };
    this.#entries.set(operation, entry);
    return entry;
  }
}

function sortedCounts(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}
