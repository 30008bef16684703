/** The outcomes of the exchanges of one stage, counted by operation. */
import type { NoResponseKind } from '../network/errors.ts';
import type { AnsweredExchange, UnansweredExchange } from '../network/transport.ts';
import { DurationHistogram } from '../result/histograms.ts';
import type { OperationCount, OperationLatency } from '../result/result-figures.ts';

interface OperationEntry {
  readonly latencies: DurationHistogram;
  readonly waiting: DurationHistogram;
  readonly service: DurationHistogram;
  readonly responses: Record<string, number>;
  readonly noResponses: Record<NoResponseKind, number>;
  signatureRefusals: number;
  sentBytes: number;
  receivedBytes: number;
}

/** Status classes by first digit. Looking one up avoids building a string for every exchange. */
const classes = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx', '6xx', '7xx', '8xx', '9xx'];

/** The metrics of one stage or of a whole run, by operation. */
export class OperationMetrics {
  readonly #entries = new Map<string, OperationEntry>();

  recordResponse({ operation, status, elapsedMs, waitingMs }: AnsweredExchange): void {
    const { responses, latencies, waiting, service } = this.#entry(operation);
    const statusClass = classes[Math.floor(status / 100)] ?? '0xx';
    responses[statusClass] = (responses[statusClass] ?? 0) + 1;
    latencies.record(elapsedMs);
    waiting.record(waitingMs);
    service.record(elapsedMs - waitingMs);
  }

  recordNoResponse({ operation, noResponse }: UnansweredExchange): void {
    this.#entry(operation).noResponses[noResponse]++;
  }

  recordSentBytes(operation: string, bytes: number): void {
    this.#entry(operation).sentBytes += bytes;
  }

  recordReceivedBytes(operation: string, bytes: number): void {
    this.#entry(operation).receivedBytes += bytes;
  }

  recordRefusedSignature(operation: string): void {
    this.#entry(operation).signatureRefusals++;
  }

  /** Returns the counts by operation. */
  counts(): OperationCount[] {
    return this.#sorted().map(([operation, { responses, noResponses: failures, ...row }]) => ({
      operation,
      responses: sortedCounts(responses),
      unanswered: failures.timeout + failures.reset + failures.refused + failures.other,
      timeouts: failures.timeout,
      resets: failures.reset,
      refusedConnections: failures.refused,
      otherErrors: failures.other,
      signatureRefusals: row.signatureRefusals,
      sentBytes: row.sentBytes,
      receivedBytes: row.receivedBytes,
    }));
  }

  /** Returns the histogram of each operation that got a response. */
  histograms(): ReadonlyMap<string, DurationHistogram> {
    const answeredEntries = this.#sorted().filter(([, { latencies }]) => latencies.count > 0);
    return new Map(answeredEntries.map(([operation, { latencies }]) => [operation, latencies]));
  }

  /** Returns the latencies by operation, each with its parts. */
  latencies(): OperationLatency[] {
    return this.latencySums().map(({ operation, ...figures }) => {
      const { waiting, service } = this.#entry(operation);
      return { operation, ...figures, waiting: waiting.figures(), service: service.figures() };
    });
  }

  /** Returns the latencies by operation without their parts, at a third of the cost. */
  latencySums(): OperationLatency[] {
    return [...this.histograms()].map(([operation, histogram]) => {
      return { operation, ...histogram.figures() };
    });
  }

  /** Returns the entries by name, so that results do not depend on which operation came first. */
  #sorted(): [string, OperationEntry][] {
    return [...this.#entries].sort(([one], [other]) => (one < other ? -1 : 1));
  }

  #entry(operation: string): OperationEntry {
    const metrics = this.#entries.get(operation);
    if (metrics) return metrics;
    const entry = {
      latencies: DurationHistogram.empty(),
      waiting: DurationHistogram.empty(),
      service: DurationHistogram.empty(),
      responses: {},
      noResponses: { timeout: 0, reset: 0, refused: 0, other: 0 },
      signatureRefusals: 0,
      sentBytes: 0,
      receivedBytes: 0,
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
