/**
 * The metrics of a run: exchanges by stage, operation and outcome; latencies since an exchange was
 * due; durations of updates and of their statuses; time series; and errors by cause.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { ClientError } from '../network/errors.ts';
import type { AnsweredExchange, ExchangeMeter, UnansweredExchange } from '../network/transport.ts';
import { DurationHistogram } from '../result/histograms.ts';
import { compareErrors } from '../result/merge-figures.ts';
import type {
  ErrorCount,
  OperationCount,
  OperationLatency,
  StageFigures,
} from '../result/result-figures.ts';
import type { ScopeFigures } from '../result/scopes.ts';
import { SeriesCounter } from '../result/series.ts';
import { OperationMetrics } from './operation-metrics.ts';
import type { ScopeMetrics } from './scope-metrics.ts';
import { UpdateMetrics } from './update-metrics.ts';

/** Maximum number of stages with metrics of their own; later stages count in the last one. */
const STAGES_MAX = 64;
const FIRST_STAGE = 'run';

interface StageMetrics {
  readonly name: string;
  readonly startMs: number;
  readonly operations: OperationMetrics;
  readonly lateness: DurationHistogram;
}

/** The metrics of one run. */
export class RunMetrics implements ExchangeMeter {
  readonly #clock: Clock;
  readonly #stages: StageMetrics[] = [];
  readonly #errors = new Map<string, { operation: string; cause: string; count: number }>();
  readonly #entered = new Map<string, number>();
  /**
   * Metrics of all stages together. They are counted separately, because summing the stages for
   * every progress report would delay the load.
   */
  readonly #whole = new OperationMetrics();
  readonly #scopes: ScopeMetrics | undefined;
  #stage: StageMetrics;
  readonly updates = new UpdateMetrics();
  readonly series: SeriesCounter;
  /** How late scheduled exchanges were sent, in milliseconds. */
  readonly lateness = DurationHistogram.empty();
  exchangeCount = 0;
  /** Number of exchanges without a response or with status 5xx. */
  errorCount = 0;

  /** @param scopes metrics of the cohorts and stages that thresholds name */
  constructor(clock: Clock, scopes?: ScopeMetrics) {
    this.#clock = clock;
    this.#scopes = scopes;
    this.series = new SeriesCounter(clock.now());
    this.#stage = this.#began(FIRST_STAGE);
  }

  /**
   * Starts a stage: later exchanges count in it. A stage without exchanges is omitted from the
   * result. A repeated name gets a number, so that the stages of several processes match by name.
   */
  enterStage(name: string): void {
    if (this.#stages.length >= STAGES_MAX) return;
    const earlierCount = this.#entered.get(name) ?? 0;
    this.#entered.set(name, earlierCount + 1);
    this.#stage = this.#began(earlierCount === 0 ? name : `${name} (${earlierCount + 1})`);
  }

  /** Name of the current stage. */
  get stage(): string {
    return this.#stage.name;
  }

  recordLateness(latenessMs: number): void {
    this.lateness.record(latenessMs);
    this.#stage.lateness.record(latenessMs);
  }

  recordResponse(exchange: AnsweredExchange): void {
    const { status, elapsedMs } = exchange;
    this.exchangeCount++;
    this.#whole.recordResponse(exchange);
    this.#stage.operations.recordResponse(exchange);
    this.#scopes?.recordResponse(exchange, this.stage);
    if (isServerError(status)) this.errorCount++;
    this.series.recordExchange(this.#clock.now(), elapsedMs, isServerError(status));
  }

  recordNoResponse(exchange: UnansweredExchange): void {
    this.exchangeCount++;
    this.errorCount++;
    this.#whole.recordNoResponse(exchange);
    this.#stage.operations.recordNoResponse(exchange);
    this.#scopes?.recordNoResponse(exchange, this.stage);
    this.series.recordExchange(this.#clock.now(), undefined, true);
  }

  recordSentBytes(operation: string, bytes: number): void {
    this.#whole.recordSentBytes(operation, bytes);
    this.#stage.operations.recordSentBytes(operation, bytes);
    this.series.recordBytes(this.#clock.now(), { sentBytes: bytes, receivedBytes: 0 });
  }

  recordReceivedBytes(operation: string, bytes: number): void {
    this.#whole.recordReceivedBytes(operation, bytes);
    this.#stage.operations.recordReceivedBytes(operation, bytes);
    this.series.recordBytes(this.#clock.now(), { sentBytes: 0, receivedBytes: bytes });
  }

  recordRefusedSignature(operation: string): void {
    this.#whole.recordRefusedSignature(operation);
    this.#stage.operations.recordRefusedSignature(operation);
  }

  /**
   * Counts the cause of an error of a device or of the user, including refusals and broken
   * sockets.
   */
  countError(error: Pick<ClientError, 'operation' | 'label'>): void {
    const { operation, label } = error;
    const errorCount = this.#errors.get(`${operation} ${label}`);
    if (errorCount) errorCount.count++;
    else this.#errors.set(`${operation} ${label}`, { operation, cause: label, count: 1 });
  }

  /** Returns the counts over all stages, by operation. */
  operations(): OperationCount[] {
    return this.#whole.counts();
  }

  latencies(): OperationLatency[] {
    return this.#whole.latencies();
  }

  /** Returns the latencies over all stages without their parts, for figures during the run. */
  latencySums(): OperationLatency[] {
    return this.#whole.latencySums();
  }

  /** Returns the histogram of each operation that got a response, over all stages. */
  histograms(): ReadonlyMap<string, DurationHistogram> {
    return this.#whole.histograms();
  }

  /** Returns the figures of the cohorts and stages that thresholds name. */
  scopes(): ScopeFigures[] {
    const startMs = this.#stages[0]?.startMs ?? this.#clock.now();
    return (
      this.#scopes?.figures(({ stage: name }) => {
        if (name === undefined) return this.#clock.now() - startMs;
        const at = this.#stages.findIndex((stage) => stage.name === name);
        const stage = this.#stages[at];
        return stage === undefined ? 0 : this.#endMsOf(at) - stage.startMs;
      }) ?? []
    );
  }

  stages(): StageFigures[] {
    const rows = this.#stages.map(({ name, startMs, operations, lateness }, index) => ({
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
    return [...this.#errors.values()].sort(compareErrors);
  }

  #endMsOf(index: number): number {
    return this.#stages[index + 1]?.startMs ?? this.#clock.now();
  }

  #began(name: string): StageMetrics {
    const stage = {
      name,
      startMs: this.#clock.now(),
      operations: new OperationMetrics(),
      lateness: DurationHistogram.empty(),
    };
    this.#stages.push(stage);
    return stage;
  }
}

/** Returns true for status 5xx, which thresholds also count as an error. */
function isServerError(status: number): boolean {
  return status >= 500 && status < 600;
}
