/**
 * The metrics of a run: exchanges by phase, operation and outcome; latencies since an exchange was
 * due; durations of updates and of their stages; time series; and errors by cause.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { ClientError } from '../network/errors.ts';
import type { AnsweredExchange, ExchangeMeter, UnansweredExchange } from '../network/transport.ts';
import { DurationHistogram } from '../result/histograms.ts';
import { inErrorOrder } from '../result/merge-figures.ts';
import type {
  ErrorCount,
  OperationCount,
  OperationLatency,
  PhaseFigures,
} from '../result/result-figures.ts';
import type { ScopeFigures } from '../result/scopes.ts';
import { SeriesCounter } from '../result/series.ts';
import { OperationMetrics } from './operation-metrics.ts';
import type { ScopeMetrics } from './scope-metrics.ts';
import { UpdateMetrics } from './update-metrics.ts';

/** Maximum number of phases with metrics of their own; later phases count in the last one. */
const PHASES_MAX = 64;
const FIRST_PHASE = 'run';

interface PhaseMetrics {
  readonly name: string;
  readonly startMs: number;
  readonly operations: OperationMetrics;
  readonly lateness: DurationHistogram;
}

/** The metrics of one run. */
export class RunMetrics implements ExchangeMeter {
  readonly #clock: Clock;
  readonly #phases: PhaseMetrics[] = [];
  readonly #errors = new Map<string, { operation: string; cause: string; count: number }>();
  readonly #entered = new Map<string, number>();
  /**
   * Metrics of all phases together. They are counted separately, because summing the phases for
   * every progress report would delay the load.
   */
  readonly #whole = new OperationMetrics();
  readonly #scopes: ScopeMetrics | undefined;
  #phase: PhaseMetrics;
  readonly updates = new UpdateMetrics();
  readonly series: SeriesCounter;
  /** How late scheduled exchanges were sent, in milliseconds. */
  readonly lateness = DurationHistogram.empty();
  exchangeCount = 0;
  /** Number of exchanges without a response or with status 5xx. */
  errorCount = 0;

  /** @param scopes metrics of the cohorts and phases that thresholds name */
  constructor(clock: Clock, scopes?: ScopeMetrics) {
    this.#clock = clock;
    this.#scopes = scopes;
    this.series = new SeriesCounter(clock.now());
    this.#phase = this.#began(FIRST_PHASE);
  }

  /**
   * Starts a phase: later exchanges count in it. A phase without exchanges is omitted from the
   * result. A repeated name gets a number, so that the phases of several processes match by name.
   */
  enterPhase(name: string): void {
    if (this.#phases.length >= PHASES_MAX) return;
    const before = this.#entered.get(name) ?? 0;
    this.#entered.set(name, before + 1);
    this.#phase = this.#began(before === 0 ? name : `${name} (${before + 1})`);
  }

  /** Name of the current phase. */
  get phase(): string {
    return this.#phase.name;
  }

  sent(latenessMs: number): void {
    this.lateness.record(latenessMs);
    this.#phase.lateness.record(latenessMs);
  }

  answered(exchange: AnsweredExchange): void {
    const { status, elapsedMs } = exchange;
    this.exchangeCount++;
    this.#whole.answered(exchange);
    this.#phase.operations.answered(exchange);
    this.#scopes?.answered(exchange, this.phase);
    if (isServerError(status)) this.errorCount++;
    this.series.recordExchange(this.#clock.now(), elapsedMs, isServerError(status));
  }

  unanswered(exchange: UnansweredExchange): void {
    this.exchangeCount++;
    this.errorCount++;
    this.#whole.unanswered(exchange);
    this.#phase.operations.unanswered(exchange);
    this.#scopes?.unanswered(exchange, this.phase);
    this.series.recordExchange(this.#clock.now(), undefined, true);
  }

  bytesSent(operation: string, bytes: number): void {
    this.#whole.bytesSent(operation, bytes);
    this.#phase.operations.bytesSent(operation, bytes);
    this.series.recordBytes(this.#clock.now(), { sentBytes: bytes, receivedBytes: 0 });
  }

  bytesReceived(operation: string, bytes: number): void {
    this.#whole.bytesReceived(operation, bytes);
    this.#phase.operations.bytesReceived(operation, bytes);
    this.series.recordBytes(this.#clock.now(), { sentBytes: 0, receivedBytes: bytes });
  }

  signatureRefused(operation: string): void {
    this.#whole.signatureRefused(operation);
    this.#phase.operations.signatureRefused(operation);
  }

  /**
   * Counts the cause of an error of a device or of the user, including refusals and broken
   * sockets.
   */
  countError(error: Pick<ClientError, 'operation' | 'label'>): void {
    const { operation, label } = error;
    const known = this.#errors.get(`${operation} ${label}`);
    if (known) known.count++;
    else this.#errors.set(`${operation} ${label}`, { operation, cause: label, count: 1 });
  }

  /** Returns the counts over all phases, by operation. */
  operations(): OperationCount[] {
    return this.#whole.counts();
  }

  latencies(): OperationLatency[] {
    return this.#whole.latencies();
  }

  /** Returns the latencies over all phases without their parts, for figures during the run. */
  latencySums(): OperationLatency[] {
    return this.#whole.latencySums();
  }

  /** Returns the histogram of each operation that got a response, over all phases. */
  histograms(): ReadonlyMap<string, DurationHistogram> {
    return this.#whole.histograms();
  }

  /** Returns the figures of the cohorts and phases that thresholds name. */
  scopes(): ScopeFigures[] {
    const startMs = this.#phases[0]?.startMs ?? this.#clock.now();
    return (
      this.#scopes?.figures(({ phase: name }) => {
        if (name === undefined) return this.#clock.now() - startMs;
        const at = this.#phases.findIndex((phase) => phase.name === name);
        const phase = this.#phases[at];
        return phase === undefined ? 0 : this.#endMsOf(at) - phase.startMs;
      }) ?? []
    );
  }

  phases(): PhaseFigures[] {
    const rows = this.#phases.map(({ name, startMs, operations, lateness }, index) => ({
      name,
      startMs,
      endMs: this.#endMsOf(index),
      lateness: lateness.figures(),
      latencies: operations.latencies(),
      operations: operations.counts(),
    }));
    return rows.filter(({ operations }) => operations.length > 0);
  }

  /** Returns the error counts, most frequent first. */
  errors(): ErrorCount[] {
    return [...this.#errors.values()].sort(inErrorOrder);
  }

  #endMsOf(index: number): number {
    return this.#phases[index + 1]?.startMs ?? this.#clock.now();
  }

  #began(name: string): PhaseMetrics {
    const phase = {
      name,
      startMs: this.#clock.now(),
      operations: new OperationMetrics(),
      lateness: DurationHistogram.empty(),
    };
    this.#phases.push(phase);
    return phase;
  }
}

/** Returns true for status 5xx, which thresholds also count as an error. */
function isServerError(status: number): boolean {
  return status >= 500 && status < 600;
}
