/**
 * Stores the workers' latest reports: the state and the measurements of each shard, and the
 * measurements of lost workers. Times are monotonic times of the coordinator's clock.
 */
import type { FleetProgress } from '../result/result.ts';
import type { FailedWorkerFigures } from '../result/result-spread.ts';
import { figuresPeriodSeconds, MergedFigures, type ShardFigures } from '../result/shard-figures.ts';
import { countsOf, type Measures } from '../result/thresholds-measures.ts';
import { mergeProgress, withoutCounts } from './merge-progress.ts';

interface ShardReport {
  progress: FleetProgress | undefined;
  figures: ShardFigures | undefined;
  figuresMs: number;
  /** The last worker of the shard that was ready to start. */
  readyWorker: string | undefined;
  /** Time up to which the reports cover the shard. */
  coveredMs: number;
  missingMs: number;
}

/** The progress of the run over all shards. */
export interface WholeRun {
  readonly progress: FleetProgress;
  /** Figures for the thresholds; absent when no new figures are due at this call. */
  readonly measures?: () => Measures;
}

/** The reports of the workers of a run. */
export class WorkerReports {
  readonly #shards: readonly ShardReport[];
  readonly #lastFigures: ShardFigures[] = [];
  readonly #reportsPerFigures: number;
  #reports = 0;
  #together = new MergedFigures([]);
  #startedMs: number | undefined;

  constructor(shards: number) {
    this.#shards = Array.from({ length: shards }, noReport);
    this.#reportsPerFigures = figuresPeriodSeconds(shards);
  }

  /** The last figures of failed workers. */
  get lastFigures(): readonly ShardFigures[] {
    return this.#lastFigures;
  }

  started(atMs: number): void {
    this.#startedMs = atMs;
  }

  /**
   * Records that a worker of the shard is ready. The time since the last report of an earlier
   * worker counts as not measured.
   */
  ready(shard: number, worker: string, atMs: number): void {
    const report = this.#shards[shard];
    if (report === undefined) return;
    if (report.readyWorker !== undefined) this.#miss(report, atMs);
    report.readyWorker = worker;
    report.coveredMs = atMs;
  }

  /** Records a worker's progress report. */
  recordProgress(
    shard: number,
    worker: string,
    {
      progress,
      figures,
      atMs,
    }: {
      readonly progress: FleetProgress;
      readonly figures: ShardFigures | undefined;
      readonly atMs: number;
    },
  ): void {
    const report = this.#shards[shard];
    if (report === undefined) return;
    report.progress = progress;
    if (report.readyWorker === worker) report.coveredMs = atMs;
    if (figures === undefined) return;
    report.figures = figures;
    report.figuresMs = atMs;
  }

  /**
   * Keeps the measurements of a shard whose worker is lost.
   * @returns how many exchanges were kept, and until when they were measured; undefined when the
   *   worker never sent figures
   */
  keep(shard: number): FailedWorkerFigures | undefined {
    const report = this.#shards[shard];
    if (report?.figures === undefined) return undefined;
    const { exchanges } = countsOf(report.figures.operations, []);
    this.#lastFigures.push(report.figures);
    report.figures = undefined;
    // The next worker counts from zero. Until it reports, the devices keep their last known states.
    report.progress = report.progress && withoutCounts(report.progress);
    const untilMs = Math.max(0, report.figuresMs - (this.#startedMs ?? report.figuresMs));
    return { exchanges, untilMs };
  }

  /**
   * Records that no worker runs the shard any more. The time since the last report counts as not
   * measured.
   */
  recordEnd(shard: number, atMs: number): void {
    const report = this.#shards[shard];
    if (report) this.#miss(report, atMs);
  }

  /** Returns for how many milliseconds the shard was not measured. */
  missingMs(shard: number): number {
    return this.#shards[shard]?.missingMs ?? 0;
  }

  /**
   * Merges the reports of all shards. Call it about once a second.
   * @param counts returns false for a shard that was given up
   * @returns undefined until every shard that counts has reported
   */
  whole(counts: (shard: number) => boolean): WholeRun | undefined {
    const shards = this.#shards.filter((_, shard) => counts(shard));
    if (shards.some(({ progress }) => progress === undefined)) return undefined;
    const isFresh = this.#reports++ % this.#reportsPerFigures === 0;
    if (isFresh) {
      const figures = shards.flatMap((each) => each.figures ?? []);
      this.#together = new MergedFigures(figures, this.#lastFigures);
    }
    const together = this.#together;
    const parts = this.#shards.flatMap(({ progress }) => progress ?? []);
    const progress = mergeProgress(parts, { together, lastFigures: this.#lastFigures });
    return progress && { progress, ...(isFresh && { measures: () => together.measures() }) };
  }

  #miss(report: ShardReport, untilMs: number): void {
    if (this.#startedMs === undefined) return;
    report.missingMs += Math.max(0, untilMs - Math.max(report.coveredMs, this.#startedMs));
    report.coveredMs = untilMs;
  }
}

function noReport(): ShardReport {
  return {
    progress: undefined,
    figures: undefined,
    figuresMs: 0,
    readyWorker: undefined,
    coveredMs: Number.NEGATIVE_INFINITY,
    missingMs: 0,
  };
}
