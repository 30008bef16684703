/**
 * What a part of a run has measured so far, as its worker tells its coordinator: counts and histograms that
 * add up exactly with those of other parts. All of it can be JSON. A histogram takes a worker a third
 * of a millisecond to write and a coordinator as long to read, and a part has some ten of them: a coordinator of
 * many parts is told less often than every second.
 */
import { DurationHistogram } from './histograms.ts';
import type { LatencySoFar } from './result.ts';
import type { Checks } from './result-checks.ts';
import type {
  ErrorCount,
  Figures,
  OperationCount,
  OperationLatency,
  UpdateFigures,
} from './result-figures.ts';
import { countsOf, durationsOf, type Measures } from './thresholds-measures.ts';

/** Parts whose histograms a coordinator reads in a second: a twentieth of its time. */
const PARTS_EACH_SECOND = 16;

/** Every how many seconds each of so many parts tells its figures, and its coordinator adds them up. */
export function figuresPeriodSeconds(parts: number): number {
  return Math.ceil(parts / PARTS_EACH_SECOND);
}

/** How the updates of a part stand; counts of devices. */
export interface PartUpdates {
  readonly devices: number;
  readonly updated: number;
  readonly failed: number;
  /** Since the deployment, or the start of the run. */
  readonly elapsedMs: number;
  /** For each length of time that a threshold of the plan names: devices updated within it. */
  readonly within: readonly (readonly [withinMs: number, devices: number])[];
}

/** The figures of a part up to a moment. */
export interface PartFigures {
  /** Milliseconds since the Unix epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly elapsedMs: number;
  readonly latencies: readonly OperationLatency[];
  readonly operations: readonly OperationCount[];
  readonly errors: readonly ErrorCount[];
  /** How long updates took. */
  readonly updates: UpdateFigures;
  readonly schedule: { readonly due: number; readonly sent: number; readonly lateness: Figures };
  readonly rollout: PartUpdates;
  /** Of its watched devices, which count where they are played to their end. */
  readonly checks?: Checks | undefined;
}

/** Several parts as one: what is shown of a run while it goes on, and what thresholds go by. */
export class PartsTogether {
  readonly #parts: readonly PartFigures[];
  readonly #rollouts: readonly PartUpdates[];
  readonly #histograms = new Map<string, DurationHistogram>();

  /**
   * @param lost parts that were begun again: what they measured counts, but not their devices, which
   * another part has now
   */
  constructor(parts: readonly PartFigures[], lost: readonly PartFigures[] = []) {
    this.#parts = [...parts, ...lost];
    this.#rollouts = parts.map(({ rollout }) => rollout);
    for (const { operation, ...figures } of this.#parts.flatMap(({ latencies }) => latencies)) {
      const whole = this.#histograms.get(operation) ?? DurationHistogram.empty();
      this.#histograms.set(operation, whole);
      whole.add(DurationHistogram.of(figures));
    }
  }

  /** By operation, merged exactly. */
  latencies(): readonly LatencySoFar[] {
    return [...this.#histograms].sort(([one], [other]) => (one < other ? -1 : 1)).map(latencySoFar);
  }

  latenessP99Ms(): number {
    const whole = DurationHistogram.empty();
    for (const { schedule } of this.#parts) whole.add(DurationHistogram.of(schedule.lateness));
    return whole.percentileMs(99);
  }

  measures(): Measures {
    const operations = this.#parts.flatMap((part) => part.operations);
    const rollouts = this.#rollouts;
    const total = (field: 'devices' | 'updated' | 'failed'): number =>
      rollouts.reduce((sum, rollout) => sum + rollout[field], 0);
    return {
      isOver: false,
      elapsedMs: Math.max(0, ...this.#parts.map(({ elapsedMs }) => elapsedMs)),
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
    };
  }
}

/** An operation's histogram as it is shown while a run goes on. */
export function latencySoFar([operation, histogram]: readonly [
  string,
  DurationHistogram,
]): LatencySoFar {
  return {
    operation,
    count: histogram.count,
    p50Ms: histogram.percentileMs(50),
    p90Ms: histogram.percentileMs(90),
    p99Ms: histogram.percentileMs(99),
    maxMs: histogram.maxMs,
  };
}
