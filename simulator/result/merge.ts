/**
 * Merges the results of several processes of one plan into the result that a single process would
 * have produced. Counts are added, histograms are added bucket by bucket, and percentiles are never
 * averaged.
 */
import { deviceRange } from '../plan/shard.ts';
import { mergedBackoffComparisons } from './backoff-comparison.ts';
import { mergeFixedRatePolls } from './fixed-rate-polls.ts';
import { judgedGenerator, scheduleOf, validityOf } from './generator.ts';
import { HistogramError } from './histogram-text.ts';
import { mergedChecks } from './merge-checks.ts';
import { exchangeMergers, mergeErrors, mergeStages, mergeUpdates } from './merge-figures.ts';
import { mergedSeries } from './merge-series.ts';
import {
  commonValue,
  counts,
  every,
  fields,
  first,
  highest,
  joinTexts,
  lowest,
  mergeLists,
  rows,
  sum,
} from './mergers.ts';
import { planDifferences } from './plan-differences.ts';
import type { EndReason, FleetResult } from './result.ts';
import type { Reconciliation } from './result-devices.ts';
import type { GeneratorFacts } from './result-generator.ts';
import { mergeMachines } from './result-machines.ts';
import type { ShardSpread } from './result-spread.ts';
import { mergeScopes } from './scopes.ts';
import type { ShardFigures } from './shard-figures.ts';
import { mergedSharedKeys } from './shared-keys.ts';
import { thresholdVerdicts } from './thresholds.ts';
import { measuresOf } from './thresholds-measures.ts';
import { trafficOf } from './traffic.ts';

/** Thrown with one sentence for results that cannot be merged. */
export class MergeError extends Error {
  override readonly name = 'MergeError';
}

/** Maximum number of reconciliation differences in a result. */
const DIFFERENCES_MAX = 1000;

/**
 * Merges all parts. Their order does not affect the result.
 * @param lastFigures measurements of failed workers, whose shard was restarted or never ended
 * @throws MergeError when the parts have different plans or seeds, overlap, or cannot be read
 */
export function mergeResults(
  results: readonly FleetResult[],
  lastFigures: readonly ShardFigures[] = [],
): FleetResult {
  const [first] = results;
  if (first === undefined) throw new MergeError('there is no result to merge');
  checkSamePlan(first, results);
  checkApart(results);
  try {
    return mergeOnto(first, results, lastFigures);
  } catch (error) {
    if (!(error instanceof HistogramError)) throw error;
    throw new MergeError(`a result is damaged: ${error.message}`, { cause: error });
  }
}

const mergeReconciliation = fields<Reconciliation>({
  checked: every,
  ok: every,
  reason: joinTexts('; '),
  // Keep only the sources that could be read for every part.
  sources: ([one, ...others]) =>
    one.filter((book) => others.every((sources) => sources.includes(book))),
  deploymentsChecked: highest,
  withoutArtifact: sum,
  lostReports: sum,
  duplicateReports: sum,
  differences: mergeLists((one, other) => one.deviceIndex - other.deviceIndex, DIFFERENCES_MAX),
  statistics: rows(
    (row) => JSON.stringify(row),
    ([one]) => one,
  ),
});

/**
 * The sections that are merged independently. Each of the other members depends on several
 * sections.
 */
type Sections = Omit<
  FleetResult,
  | ('schema' | 'seed' | 'plan' | 'ended' | 'shards' | 'startedAt' | 'durationMs')
  | ('validity' | 'generator' | 'traffic' | 'checks' | 'devices' | 'thresholds')
>;

const mergedSections = fields<Sections>({
  machines: mergeMachines,
  events: fields<NonNullable<FleetResult['events']>>({
    written: sum,
    lost: sum,
    error: joinTexts(', '),
  }),
  virtual: first,
  deploymentId: commonValue,
  deployedMs: lowest,
  funnel: counts,
  deviceCounts: counts,
  reconciliation: mergeReconciliation,
  updates: mergeUpdates,
  fixedRatePolls: mergeFixedRatePolls,
  ...exchangeMergers,
  stages: mergeStages,
  scopes: mergeScopes,
  errors: mergeErrors,
  series: mergedSeries,
  sharedKeys: mergedSharedKeys,
  backoffComparison: mergedBackoffComparisons,
  spread: fields<ShardSpread>({
    takeovers: mergeLists(),
    lost: mergeLists(),
    missingDeviceMs: sum,
  }),
});

function mergeOnto(
  one: FleetResult,
  results: readonly FleetResult[],
  lastFigures: readonly ShardFigures[],
): FleetResult {
  const span = spanOf(results);
  const generator = mergedGenerator(results, lastFigures, span.durationMs);
  const sections = mergedSections([...results, ...lastFigures.map(keptSections)]);
  const checks = mergedChecks(
    [...results, ...lastFigures].map((part) => part.checks),
    sections,
  );
  const traffic = trafficOf(sections.operations, span.durationMs);
  const { schema, seed, plan } = one;
  const mergedResult: Omit<FleetResult, 'thresholds'> = {
    schema,
    seed,
    plan,
    ended: worstEnd(results),
    shards: results.flatMap(({ shards }) => shards).sort((a, b) => a.index - b.index),
    ...span,
    validity: validityOf(generator),
    generator,
    ...sections,
    ...(traffic && { traffic }),
    ...(checks && { checks }),
    devices: results.flatMap(({ devices }) => devices).sort((a, b) => a.index - b.index),
  };
  const thresholds = thresholdVerdicts(plan.thresholds ?? [], measuresOf(mergedResult));
  return { ...mergedResult, thresholds };
}

/**
 * Returns the measurements of a failed worker as sections of a result. They form a separate stage,
 * so that the stages still add up to the whole.
 */
function keptSections(part: ShardFigures): Partial<Sections> {
  const { startMs, endMs, latencies, operations, errors, updates, schedule, scopes } = part;
  const { lateness } = schedule;
  const stage = { name: 'of failed workers', startMs, endMs, lateness, latencies, operations };
  return {
    latencies,
    operations,
    errors,
    updates,
    stages: operations.length === 0 ? [] : [stage],
    ...(scopes && { scopes }),
  };
}

function checkSamePlan(first: FleetResult, results: readonly FleetResult[]): void {
  for (const { plan, seed } of results) {
    if (seed !== first.seed) {
      throw new MergeError(`the results have different seeds, "${first.seed}" and "${seed}"`);
    }
    const [difference, ...more] = planDifferences(first.plan, plan);
    if (difference === undefined) continue;
    const moreText = more.length === 0 ? '' : `, and ${more.length} more`;
    throw new MergeError(`the results have different plans: ${difference}${moreText}`);
  }
}

function checkApart(results: readonly FleetResult[]): void {
  const takenRanges: { readonly name: string; readonly first: number; readonly end: number }[] = [];
  for (const { shards, plan } of results) {
    for (const shard of shards) {
      const name = `${shard.index + 1}/${shard.of}`;
      const { first, end } = deviceRange({ devices: plan.devices, shard });
      const otherRange = takenRanges.find((each) => first < each.end && each.first < end);
      if (otherRange)
        throw new MergeError(
          `shards ${otherRange.name} and ${name} overlap: merge each shard once`,
        );
      takenRanges.push({ name, first, end });
    }
  }
}

/** All ends, the worst first. The worst end among the parts applies to the whole. */
const ends: readonly EndReason[] = [
  'interrupted',
  'threshold',
  'duration',
  'stages',
  'iterations',
  'settled',
];

function worstEnd(results: readonly FleetResult[]): EndReason {
  return ends.find((end) => results.some(({ ended }) => ended === end)) ?? 'interrupted';
}

function spanOf(results: readonly FleetResult[]): Pick<FleetResult, 'startedAt' | 'durationMs'> {
  const starts = results.map(({ startedAt }) => Date.parse(startedAt));
  const startMs = Math.min(...starts);
  const durationsMs = results.map(({ durationMs }, index) => {
    return (starts[index] ?? startMs) - startMs + durationMs;
  });
  return { startedAt: new Date(startMs).toISOString(), durationMs: Math.max(...durationsMs) };
}

function mergedGenerator(
  results: readonly FleetResult[],
  lastFigures: readonly ShardFigures[],
  durationMs: number,
): GeneratorFacts {
  const processes = results
    .flatMap(({ generator }) => generator.processes)
    .sort((one, other) => one.shard - other.shard || one.durationMs - other.durationMs);
  const schedules = [
    ...results.map(({ generator }) => generator.schedule),
    ...lastFigures.map(({ schedule }) => schedule),
  ];
  return judgedGenerator({ processes, schedule: scheduleOf(schedules, durationMs) });
}
