/**
 * What the workers of a run have told of themselves so far: how each shard stands, what it has
 * measured, and what those had measured that were lost. Times are those of the coordinator's own clock.
 */

import { figuresPeriodSeconds, type PartFigures, PartsTogether } from '../result/part-figures.ts';
import type { FleetProgress } from '../result/result.ts';
import type { KeptSpan } from '../result/result-spread.ts';
import { countsOf, type Measures } from '../result/thresholds-measures.ts';
import { mergeProgress, withoutCounts } from './merge-progress.ts';

interface ShardReport {
  progress: FleetProgress | undefined;
  figures: PartFigures | undefined;
  figuresMs: number;
  /** The last worker that was ready to start. */
  readyWorker: string | undefined;
  /** Until when it is known what the shard did. */
  coveredMs: number;
  missingMs: number;
}

/** Where the run stands, of all shards together. */
export interface WholeRun {
  readonly progress: FleetProgress;
  /** Absent while the figures of all are those of the last look. */
  readonly measures?: () => Measures;
}

/** The books of what was told. */
export class WorkerReports {
  readonly #shards: readonly ShardReport[];
  readonly #kept: PartFigures[] = [];
  readonly #looksBetween: number;
  #looks = 0;
  #together = new PartsTogether([]);
  #startedMs: number | undefined;

  constructor(shards: number) {
    this.#shards = Array.from({ length: shards }, noReport);
    this.#looksBetween = figuresPeriodSeconds(shards);
  }

  /** What failed workers had measured when they last told of it. */
  get kept(): readonly PartFigures[] {
    return this.#kept;
  }

  started(atMs: number): void {
    this.#startedMs = atMs;
  }

  /** A worker of the shard is ready to start; what happened since the last one spoke is unknown. */
  ready(shard: number, worker: string, atMs: number): void {
    const told = this.#shards[shard];
    if (told === undefined) return;
    if (told.readyWorker !== undefined) this.#miss(told, atMs);
    told.readyWorker = worker;
    told.coveredMs = atMs;
  }

  /** A worker has told where it stands. */
  heard(
    shard: number,
    worker: string,
    {
      progress,
      figures,
      atMs,
    }: {
      readonly progress: FleetProgress;
      readonly figures: PartFigures | undefined;
      readonly atMs: number;
    },
  ): void {
    const told = this.#shards[shard];
    if (told === undefined) return;
    told.progress = progress;
    if (told.readyWorker === worker) told.coveredMs = atMs;
    if (figures === undefined) return;
    told.figures = figures;
    told.figuresMs = atMs;
  }

  /**
   * The shard's worker is lost: what it has measured is kept.
   * @returns how much that is; nothing when it never told of anything
   */
  keep(shard: number): KeptSpan | undefined {
    const told = this.#shards[shard];
    if (told?.figures === undefined) return undefined;
    const { exchanges } = countsOf(told.figures.operations, []);
    this.#kept.push(told.figures);
    told.figures = undefined;
    // The next worker begins to count anew; until it speaks, the devices stand as they last stood.
    told.progress = told.progress && withoutCounts(told.progress);
    const untilMs = Math.max(0, told.figuresMs - (this.#startedMs ?? told.figuresMs));
    return { exchanges, untilMs };
  }

  /** Nobody runs the shard any more, from its last worker's last word on. */
  ended(shard: number, atMs: number): void {
    const told = this.#shards[shard];
    if (told) this.#miss(told, atMs);
  }

  /** How long the shard went on unseen, in milliseconds. */
  missingMs(shard: number): number {
    return this.#shards[shard]?.missingMs ?? 0;
  }

  /**
   * All shards together; undefined as long as one of those that count has told nothing. To be called
   * about once a second.
   */
  whole(counts: (shard: number) => boolean): WholeRun | undefined {
    const shards = this.#shards.filter((_, shard) => counts(shard));
    if (shards.some(({ progress }) => progress === undefined)) return undefined;
    const isFresh = this.#looks++ % this.#looksBetween === 0;
    if (isFresh) {
      const figures = shards.flatMap((each) => each.figures ?? []);
      this.#together = new PartsTogether(figures, this.#kept);
    }
    const together = this.#together;
    const parts = this.#shards.flatMap(({ progress }) => progress ?? []);
    const progress = mergeProgress(parts, { together, kept: this.#kept });
    return progress && { progress, ...(isFresh && { measures: () => together.measures() }) };
  }

  #miss(told: ShardReport, untilMs: number): void {
    if (this.#startedMs === undefined) return;
    told.missingMs += Math.max(0, untilMs - Math.max(told.coveredMs, this.#startedMs));
    told.coveredMs = untilMs;
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
