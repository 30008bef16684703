/**
 * The measurements on which thresholds are judged: one interface for finished runs and for runs in
 * progress.
 */
import type { ThresholdScope } from '../plan/thresholds-parser.ts';
import { DurationHistogram } from './histograms.ts';
import { mergedDurations } from './merge-figures.ts';
import type { FleetResult } from './result.ts';
import type { OperationCount } from './result-figures.ts';
import { isSameScope, type ScopeFigures } from './scopes.ts';

/** Progress of the updates of a run. */
export interface UpdateMeasures {
  readonly devices: number;
  /** Number of devices whose update succeeded. */
  readonly updated: number;
  /**
   * Returns the number of devices that were updated within this many milliseconds after the
   * deployment was created.
   */
  updatedWithin(withinMs: number): number;
  /** Number of devices that finished an update without success. */
  readonly failed: number;
  /** Milliseconds since the deployment was created, or since the start of a run without one. */
  readonly elapsedMs: number;
}

/** The figures of exchanges. An empty list of operations means all operations. */
export interface ExchangeMeasures {
  readonly elapsedMs: number;
  durations(operations: readonly string[]): DurationHistogram;
  counts(operations: readonly string[]): { readonly exchanges: number; readonly errors: number };
}

/** The figures of a run. An empty list of operations means all operations. */
export interface Measures extends ExchangeMeasures {
  readonly isOver: boolean;
  /** Returns the figures of a cohort, of a stage, or of a cohort in a stage. */
  within(scope: ThresholdScope): ExchangeMeasures;
  updates(): UpdateMeasures;
  /** Returns the lateness of the load generator; absent during a run. */
  lateness?(): DurationHistogram;
  /** Returns the number of lost or doubled reports; undefined before the reconciliation. */
  reports(outcome: 'lost' | 'doubled'): number | undefined;
}

/**
 * Returns the figures of a finished run.
 * @throws HistogramError when a histogram of the result is damaged
 */
export function measuresOf(result: Omit<FleetResult, 'thresholds'>): Measures {
  const { reconciliation, latencies, operations, durationMs } = result;
  return {
    isOver: result.ended !== 'interrupted',
    elapsedMs: durationMs,
    durations: (wanted) =>
      mergedDurations(latencies.filter(({ operation }) => isWanted(operation, wanted))),
    counts: (wanted) => countsOf(operations, wanted),
    within: (scope) => scopedMeasures(result.scopes ?? [], scope),
    updates: () => updatesOf(result),
    lateness: () => DurationHistogram.of(result.generator.schedule.lateness),
    reports: (outcome) => {
      if (!reconciliation.checked) return undefined;
      return outcome === 'lost' ? reconciliation.lostReports : reconciliation.duplicateReports;
    },
  };
}

/** Returns the figures of one scope; empty when nothing was measured in it. */
export function scopedMeasures(
  scopes: readonly ScopeFigures[],
  scope: ThresholdScope,
): ExchangeMeasures {
  const { durationMs = 0, latencies = [], operations = [] } = scopes.find(isSameScope(scope)) ?? {};
  return {
    elapsedMs: durationMs,
    durations: (wanted) =>
      mergedDurations(latencies.filter(({ operation }) => isWanted(operation, wanted))),
    counts: (wanted) => countsOf(operations, wanted),
  };
}

/** Returns true when the list contains the operation or is empty. */
function isWanted(operation: string, wanted: readonly string[]): boolean {
  return wanted.length === 0 || wanted.includes(operation);
}

/** Returns the number of exchanges of these operations, and how many had no response or a 5xx. */
export function countsOf(
  operations: readonly OperationCount[],
  wanted: readonly string[],
): { readonly exchanges: number; readonly errors: number } {
  let exchanges = 0;
  let errors = 0;
  for (const { operation, responses, unanswered } of operations) {
    if (!isWanted(operation, wanted)) continue;
    for (const count of Object.values(responses)) exchanges += count;
    exchanges += unanswered;
    errors += unanswered + (responses['5xx'] ?? 0);
  }
  return { exchanges, errors };
}

/** Merges the durations of these operations. */
export function durationsOf(
  histograms: ReadonlyMap<string, DurationHistogram>,
  wanted: readonly string[],
): DurationHistogram {
  const sum = DurationHistogram.empty();
  for (const [operation, histogram] of histograms) {
    if (isWanted(operation, wanted)) sum.add(histogram);
  }
  return sum;
}

function updatesOf(result: Omit<FleetResult, 'thresholds'>): UpdateMeasures {
  const startMs = Date.parse(result.startedAt);
  const endMs = startMs + result.durationMs;
  const baseMs = result.deployedMs ?? startMs;
  const updatedDevices = result.devices.filter(
    ({ outcome }) => outcome === 'success' || outcome === 'already-installed',
  );
  return {
    devices: result.funnel.devices,
    updated: updatedDevices.length,
    updatedWithin: (withinMs) =>
      updatedDevices.filter(({ finishedMs = endMs }) => finishedMs - baseMs <= withinMs).length,
    failed: result.deviceCounts.failed,
    elapsedMs: endMs - baseMs,
  };
}
