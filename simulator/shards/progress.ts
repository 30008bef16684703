/** Where a run of several shards stands, from where each of them stands. */
import type { FleetProgress } from '../report/result.ts';
import type { Funnel } from '../report/result-devices.ts';

type Latency = FleetProgress['latencies'][number];
type ErrorCount = FleetProgress['causes'][number];

/**
 * One progress for all; undefined for none. Counts are exact. Percentiles are those of the worst
 * shard, so no better than the truth: the histograms that make them exact are merged at the end
 * only, because writing them out every second would disturb what they measure.
 */
export function mergeProgress(parts: readonly FleetProgress[]): FleetProgress | undefined {
  const [first, ...others] = parts;
  if (first === undefined) return undefined;
  return {
    ...others.reduce(addProgress, first),
    latencies: worstLatencies(parts.flatMap(({ latencies }) => latencies)),
    causes: summedCauses(parts.flatMap(({ causes }) => causes)),
    generators: parts.flatMap(({ generators }) => generators),
  };
}

function addProgress(sum: FleetProgress, part: FleetProgress): FleetProgress {
  return {
    ...part,
    ...sum,
    elapsedMs: Math.max(sum.elapsedMs, part.elapsedMs),
    funnel: addFunnels(sum.funnel, part.funnel),
    exchanges: sum.exchanges + part.exchanges,
    errors: sum.errors + part.errors,
    socketsOpen: sum.socketsOpen + part.socketsOpen,
    latenessP99Ms: Math.max(sum.latenessP99Ms, part.latenessP99Ms),
  };
}

function addFunnels(one: Funnel, other: Funnel): Funnel {
  return {
    devices: one.devices + other.devices,
    offered: one.offered + other.offered,
    downloading: one.downloading + other.downloading,
    installing: one.installing + other.installing,
    rebooting: one.rebooting + other.rebooting,
    success: one.success + other.success,
    failure: one.failure + other.failure,
    aborted: one.aborted + other.aborted,
    alreadyInstalled: one.alreadyInstalled + other.alreadyInstalled,
    underway: one.underway + other.underway,
    idle: one.idle + other.idle,
    waiting: one.waiting + other.waiting,
    silent: one.silent + other.silent,
  };
}

function worstLatencies(parts: readonly Latency[]): readonly Latency[] {
  const worst = new Map<string, Latency>();
  for (const part of parts) {
    const known = worst.get(part.operation);
    worst.set(part.operation, known ? worseOf(known, part) : part);
  }
  return [...worst.values()];
}

function worseOf(one: Latency, other: Latency): Latency {
  return {
    operation: one.operation,
    count: one.count + other.count,
    p50Ms: Math.max(one.p50Ms, other.p50Ms),
    p90Ms: Math.max(one.p90Ms, other.p90Ms),
    p99Ms: Math.max(one.p99Ms, other.p99Ms),
    maxMs: Math.max(one.maxMs, other.maxMs),
  };
}

function summedCauses(parts: readonly ErrorCount[]): readonly ErrorCount[] {
  const sums = new Map<string, ErrorCount>();
  for (const part of parts) {
    const key = `${part.operation} ${part.cause}`;
    sums.set(key, { ...part, count: part.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()].sort((one, other) => other.count - one.count);
}
