/** What a run counts: every exchange by operation and status class, latencies, errors by cause. */
import { build, type Histogram } from 'hdr-histogram-js';
import type { ClientError } from '../client/errors.ts';
import type { ExchangeObserver } from '../client/transport.ts';

/** How long the exchanges of one operation took, in milliseconds, answered ones only. */
export interface OperationLatency {
  readonly operation: string;
  readonly count: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** How many exchanges of one operation ended how. */
export interface OperationCount {
  readonly operation: string;
  /** Answers by status class, such as `2xx`. */
  readonly answers: Readonly<Record<string, number>>;
  readonly unanswered: number;
}

/** How often one operation failed for one cause. */
export interface ErrorCount {
  readonly operation: string;
  /** Such as `transport/ECONNREFUSED` or `status/503`. */
  readonly cause: string;
  readonly count: number;
}

/** Microseconds: four hours, longer than any exchange can last. */
const LATENCY_MAX_MICROSECONDS = 4 * 3_600_000_000;
const MICROSECONDS_PER_MS = 1000;

interface OperationEntry {
  readonly histogram: Histogram;
  readonly answers: Record<string, number>;
  unanswered: number;
}

/** The books of one run. */
export class Ledger implements ExchangeObserver {
  readonly #operations = new Map<string, OperationEntry>();
  readonly #errors = new Map<string, { operation: string; cause: string; count: number }>();
  exchangeCount = 0;
  errorCount = 0;

  answered(operation: string, status: number, elapsedMs: number): void {
    const entry = this.#entry(operation);
    const statusClass = `${Math.floor(status / 100)}xx`;
    entry.answers[statusClass] = (entry.answers[statusClass] ?? 0) + 1;
    const microseconds = Math.round(elapsedMs * MICROSECONDS_PER_MS);
    entry.histogram.recordValue(Math.min(microseconds, LATENCY_MAX_MICROSECONDS));
  }

  unanswered(operation: string): void {
    this.#entry(operation).unanswered++;
  }

  /** Counts a fault that the life of a device or the operator ran into. */
  fault(error: Pick<ClientError, 'operation' | 'label'>): void {
    const { operation, label } = error;
    this.errorCount++;
    const known = this.#errors.get(`${operation} ${label}`);
    if (known) known.count++;
    else this.#errors.set(`${operation} ${label}`, { operation, cause: label, count: 1 });
  }

  /** In the order in which operations were first used. */
  operations(): OperationCount[] {
    return [...this.#operations].map(([operation, { answers, unanswered }]) => {
      return { operation, answers: { ...answers }, unanswered };
    });
  }

  latencies(): OperationLatency[] {
    return [...this.#operations]
      .filter(([, { histogram }]) => histogram.totalCount > 0)
      .map(([operation, { histogram }]) => ({
        operation,
        count: histogram.totalCount,
        p50Ms: percentileMs(histogram, 50),
        p90Ms: percentileMs(histogram, 90),
        p99Ms: percentileMs(histogram, 99),
        maxMs: histogram.maxValue / MICROSECONDS_PER_MS,
      }));
  }

  /** The most frequent first. */
  errors(): ErrorCount[] {
    return [...this.#errors.values()].sort((one, other) => other.count - one.count);
  }

  #entry(operation: string): OperationEntry {
    this.exchangeCount++;
    const known = this.#operations.get(operation);
    if (known) return known;
    const highest = { highestTrackableValue: LATENCY_MAX_MICROSECONDS, autoResize: false };
    const histogram = build({ ...highest, numberOfSignificantValueDigits: 3 });
    const entry = { histogram, answers: {}, unanswered: 0 };
    this.#operations.set(operation, entry);
    return entry;
  }
}

function percentileMs(histogram: Histogram, percentile: number): number {
  return histogram.getValueAtPercentile(percentile) / MICROSECONDS_PER_MS;
}
