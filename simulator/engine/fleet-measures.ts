/** The figures of a running fleet, for its thresholds and for the coordinator of its run. */
import { thresholdOf } from '../plan/thresholds-parser.ts';
import type { ShardFigures, ShardUpdates } from '../result/shard-figures.ts';
import {
  countsOf,
  durationsOf,
  type Measures,
  scopedMeasures,
  type UpdateMeasures,
} from '../result/thresholds-measures.ts';
import type { Fleet } from './fleet.ts';
import { findCountedDeployment } from './funnel.ts';

/** Returns the current figures of a running fleet. */
export function measuresNow(fleet: Fleet, nowMs: number): Measures {
  const { metrics } = fleet;
  const histograms = metrics.histograms();
  const operations = metrics.operations();
  return {
    isOver: false,
    elapsedMs: fleet.elapsedMs(),
    durations: (wanted) => durationsOf(histograms, wanted),
    counts: (wanted) => countsOf(operations, wanted),
    updates: () => updatesNow(fleet, nowMs),
    reports: () => undefined,
    within: (scope) => scopedMeasures(metrics.scopes(), scope),
  };
}

/** Returns the current progress of the updates of a running fleet. */
function updatesNow(fleet: Fleet, nowMs: number): UpdateMeasures {
  const { devices, runDeployment } = fleet;
  const baseMs = runDeployment?.createdMs ?? nowMs - fleet.elapsedMs();
  const updatedAfterMs: number[] = [];
  let failed = 0;
  for (const device of devices) {
    const part = findCountedDeployment(device, runDeployment);
    if (part === undefined) continue;
    const { state } = part;
    const finishedMs = part.finishedMs ?? nowMs;
    if (state === 'success' || state === 'already-installed')
      updatedAfterMs.push(finishedMs - baseMs);
    else if (state === 'failure' || state === 'aborted') failed++;
  }
  return {
    devices: devices.length,
    updated: updatedAfterMs.length,
    updatedWithin: (withinMs) => updatedAfterMs.filter((afterMs) => afterMs <= withinMs).length,
    failed,
    elapsedMs: nowMs - baseMs,
  };
}

/** Returns the current figures of a fleet that runs a shard. */
export function shardFigures(
  fleet: Fleet,
  nowMs: number,
  thresholds: readonly string[] = [],
): ShardFigures {
  const { metrics } = fleet;
  const elapsedMs = fleet.elapsedMs();
  const sentCount = metrics.lateness.count;
  return {
    startMs: nowMs - elapsedMs,
    endMs: nowMs,
    elapsedMs,
    latencies: metrics.latencySums(),
    operations: metrics.operations(),
    errors: metrics.errors(),
    updates: metrics.updates.figures(),
    schedule: {
      due: sentCount + fleet.overdueCount(),
      sent: sentCount,
      lateness: metrics.lateness.figures(),
    },
    rollout: rolloutOf(fleet, nowMs, thresholds),
    scopes: metrics.scopes(),
    checks: fleet.checks?.figures(0),
  };
}

function rolloutOf(fleet: Fleet, nowMs: number, thresholds: readonly string[]): ShardUpdates {
  const { updatedWithin, ...counts } = updatesNow(fleet, nowMs);
  const lengths = thresholds.flatMap((text) => {
    const { subject } = thresholdOf(text);
    return subject.kind === 'updated' ? [subject.withinMs] : [];
  });
  return { ...counts, within: lengths.map((withinMs) => [withinMs, updatedWithin(withinMs)]) };
}
