/**
 * The figures of a shard so far, as plain JSON, which its worker sends to the coordinator. Counts
 * and histograms add up exactly with those of other shards. Encoding or decoding a histogram takes
 * a third of a millisecond, and a shard has about ten, so a run with many shards sends them less
 * often than once a second.
 */
import { DurationHistogram } from './histograms.ts';
import type { CurrentLatency } from './result.ts';
import type { Checks } from './result-checks.ts';
import type {
  ErrorCount,
  Figures,
  OperationCount,
  OperationLatency,
  UpdateFigures,
} from './result-figures.ts';
import { mergeScopes, type ScopeFigures } from './scopes.ts';
import { countsOf, durationsOf, type Measures, scopedMeasures } from './thresholds-measures.ts';
import { type Traffic, trafficOf } from './traffic.ts';

/**
 * Number of shards whose figures a coordinator decodes per second, which takes a twentieth of its
 * time.
 */
const SHARDS_EACH_SECOND = 16;

/**
 * Returns the interval in seconds at which each shard sends its figures.
 * @param shards number of shards
 */
export function figuresPeriodSeconds(shards: number): number {
  return Math.ceil(shards / SHARDS_EACH_SECOND);
}

/** Progress of the updates in a shard, in numbers of devices. */
export interface ShardUpdates {
  readonly devices: number;
  readonly updated: number;
  readonly failed: number;
  /** Milliseconds since the deployment was created, or since the start of a run without one. */
  readonly elapsedMs: number;
  /** Number of devices updated within each duration that a threshold of the plan names. */
  readonly within: readonly (readonly [withinMs: number, devices: number])[];
}

/** The figures of a shard so far. */
export interface ShardFigures {
  /** Start and end of the measurements, in milliseconds since the Unix epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly elapsedMs: number;
  readonly latencies: readonly OperationLatency[];
  readonly operations: readonly OperationCount[];
  readonly errors: readonly ErrorCount[];
  readonly updates: UpdateFigures;
  readonly schedule: { readonly due: number; readonly sent: number; readonly lateness: Figures };
  readonly rollout: ShardUpdates;
  /** Figures of the cohorts and stages that thresholds name. */
  readonly scopes?: readonly ScopeFigures[] | undefined;
  /**
   * Checks of the shard's watched devices. Only the shard that runs them to the end counts the
   * devices.
   */
  readonly checks?: Checks | undefined;
}

/** The merged figures of several shards, for the progress of a run and its thresholds. */
export class MergedFigures {
  readonly #shards: readonly ShardFigures[];
  readonly #rollouts: readonly ShardUpdates[];
  readonly #histograms = new Map<string, DurationHistogram>();

  /**
   * Merges the figures.
   * @param lost figures of failed workers; their measurements count, but not their devices, which
   *   are in the figures of the restarted shard
   */
  constructor(shards: readonly ShardFigures[], lost: readonly ShardFigures[] = []) {
    this.#shards = [...shards, ...lost];
    this.#rollouts = shards.map(({ rollout }) => rollout);
    for (const { operation, ...figures } of this.#shards.flatMap(({ latencies }) => latencies)) {
      const histogram = this.#histograms.get(operation) ?? DurationHistogram.empty();
      this.#histograms.set(operation, histogram);
      histogram.add(DurationHistogram.of(figures));
    }
  }

  /** Returns the latencies by operation, merged exactly from the histograms of all shards. */
  latencies(): readonly CurrentLatency[] {
    return [...this.#histograms].sort(([one], [other]) => (one < other ? -1 : 1)).map(latencySoFar);
  }

  latenessP99Ms(): number {
    const whole = DurationHistogram.empty();
    for (const { schedule } of this.#shards) whole.add(DurationHistogram.of(schedule.lateness));
    return whole.percentileMs(99);
  }

  traffic(elapsedMs: number): Traffic | undefined {
    return trafficOf(
      this.#shards.flatMap(({ operations }) => operations),
      elapsedMs,
    );
  }

  measures(): Measures {
    const operations = this.#shards.flatMap((shard) => shard.operations);
    const rollouts = this.#rollouts;
    const total = (field: 'devices' | 'updated' | 'failed'): number =>
      rollouts.reduce((sum, rollout) => sum + rollout[field], 0);
    return {
      isOver: false,
      elapsedMs: Math.max(0, ...this.#shards.map(({ elapsedMs }) => elapsedMs)),
      durations: (wanted) => durationsOf(this.#histograms, wanted),
      counts: (wanted) => countsOf(operations, wanted),
      updates: () => ({
        devices: total('devices'),
        updated: total('updated'),
        failed: total('failed'),
        elapsedMs: Math.max(0, ...rollouts.map(({ elapsedMs }) => elapsedMs)),
        updatedWithin: (withinMs) =>
          rollouts.reduce((sum, { within }) => sum + (new Map(within).get(withinMs) ?? 0), 0),
      }),
      reports: () => undefined,
      within: (scope) =>
        scopedMeasures(mergeScopes(this.#shards.map(({ scopes = [] }) => scopes)), scope),
    };
  }
}

/** Converts an operation's histogram to a row of a progress report. */
export function latencySoFar([operation, histogram]: readonly [
  string,
  DurationHistogram,
]): CurrentLatency {
  return {
    operation,
    count: histogram.count,
    p50Ms: histogram.percentileMs(50),
    p90Ms: histogram.percentileMs(90),
    p99Ms: histogram.percentileMs(99),
    maxMs: histogram.maxMs,
  };
}
