/** Merges the progress of several shards into the progress of the run. */
import { mergeFixedRatePolls } from '../result/fixed-rate-polls.ts';
import { counts } from '../result/mergers.ts';
import type { FleetProgress } from '../result/result.ts';
import type { MergedFigures, ShardFigures } from '../result/shard-figures.ts';
import { countsOf } from '../result/thresholds-measures.ts';

type ErrorCount = FleetProgress['causes'][number];

/** The merged figures of all shards, and the figures of failed workers. */
interface MergedShards {
  readonly together: MergedFigures;
  readonly lastFigures: readonly ShardFigures[];
}

/** Merges progress reports, with exact percentiles. Returns undefined when there are none. */
export function mergeProgress(
  parts: readonly FleetProgress[],
  { together, lastFigures }: MergedShards,
): FleetProgress | undefined {
  const [first, ...otherParts] = parts;
  if (first === undefined) return undefined;
  const sum = otherParts.reduce(addProgress, first);
  const traffic = together.traffic(sum.elapsedMs);
  const keptErrors = lastFigures.flatMap(({ errors }) => errors);
  const keptCounts = lastFigures.map(({ operations }) => countsOf(operations, []));
  return {
    ...sum,
    exchanges: keptCounts.reduce((total, { exchanges }) => total + exchanges, sum.exchanges),
    errors: keptCounts.reduce((total, { errors }) => total + errors, sum.errors),
    latencies: together.latencies(),
    latenessP99Ms: together.latenessP99Ms(),
    ...(traffic && { traffic }),
    causes: summedCauses([...parts.flatMap(({ causes }) => causes), ...keptErrors]),
    generators: parts.flatMap(({ generators }) => generators),
  };
}

/** Returns the report with its device counts, but without the other counts. */
export function withoutCounts(progress: FleetProgress): FleetProgress {
  return {
    ...progress,
    exchanges: 0,
    errors: 0,
    socketsOpen: 0,
    latencies: [],
    causes: [],
    generators: [],
  };
}

function addProgress(sum: FleetProgress, part: FleetProgress): FleetProgress {
  return {
    ...part,
    ...sum,
    elapsedMs: Math.max(sum.elapsedMs, part.elapsedMs),
    funnel: counts([sum.funnel, part.funnel]),
    exchanges: sum.exchanges + part.exchanges,
    errors: sum.errors + part.errors,
    socketsOpen: sum.socketsOpen + part.socketsOpen,
    ...bothPolls(sum, part),
    ...bothViolated(sum, part),
  };
}

function bothPolls(
  one: FleetProgress,
  other: FleetProgress,
): Pick<FleetProgress, 'fixedRatePolls'> {
  const parts = [one, other].flatMap(({ fixedRatePolls }) => fixedRatePolls ?? []);
  return parts.length === 0 ? {} : { fixedRatePolls: mergeFixedRatePolls(parts) };
}

function bothViolated(one: FleetProgress, other: FleetProgress): Pick<FleetProgress, 'violated'> {
  if (one.violated === undefined && other.violated === undefined) return {};
  return { violated: [...new Set([...(one.violated ?? []), ...(other.violated ?? [])])] };
}

function summedCauses(parts: readonly ErrorCount[]): readonly ErrorCount[] {
  const sums = new Map<string, ErrorCount>();
  for (const part of parts) {
    const key = `${part.operation} ${part.cause}`;
    sums.set(key, { ...part, count: part.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()].sort((one, other) => other.count - one.count);
}
