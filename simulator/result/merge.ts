/**
 * Merges the results of several processes of one plan into the one that a single process would have
 * had: counts are added, histograms are added bucket by bucket, no percentile is ever averaged.
 */

import { deviceRange } from '../plan/shard.ts';
import { mergedBackoffComparisons } from './backoff-comparison.ts';
import { judgedGenerator, scheduleOf } from './generator.ts';
import { HistogramError } from './histogram-text.ts';
import { mergedChecks } from './merge-checks.ts';
import { mergedMeasures, mergedUpdates } from './merge-figures.ts';
import { mergedSeries } from './merge-series.ts';
import type { PartFigures } from './part-figures.ts';
import { planDifferences } from './plan-differences.ts';
import type { Ended, FleetResult } from './result.ts';
import type { Funnel, Reconciliation } from './result-devices.ts';
import type { Accounts } from './result-figures.ts';
import type { GeneratorFacts } from './result-generator.ts';
import { mergedMachines } from './result-machines.ts';
import { mergedSharedKeys } from './shared-keys.ts';
import { thresholdVerdicts } from './thresholds.ts';
import { measuresOf } from './thresholds-measures.ts';

/** Thrown for results that do not belong together; one sentence. */
export class MergeError extends Error {
  override readonly name = 'MergeError';
}

/** Differences that a result lists. */
const DIFFERENCES_MAX = 1000;

/**
 * Merges all parts, in any order with the same result.
 * @param kept measurements of workers whose shard was restarted, or never ended
 * @throws MergeError when they are of different plans or seeds, overlap, or cannot be read
 */
export function mergeResults(
  results: readonly FleetResult[],
  kept: readonly PartFigures[] = [],
): FleetResult {
  const [first] = results;
  if (first === undefined) throw new MergeError('there is no result to merge');
  checkSamePlan(first, results);
  checkApart(results);
  try {
    return merged(first, results, kept);
  } catch (error) {
    if (!(error instanceof HistogramError)) throw error;
    throw new MergeError(`a result is damaged: ${error.message}`, { cause: error });
  }
}

function merged(
  first: FleetResult,
  results: readonly FleetResult[],
  kept: readonly PartFigures[],
): FleetResult {
  const span = spanOf(results);
  const generator = mergedGenerator(results, kept, span.durationMs);
  const sharedKeys = mergedSharedKeys(results.flatMap((each) => each.sharedKeys ?? []));
  const measures = mergedMeasures([...results, ...kept.map(keptMeasures)]);
  const series = mergedSeries(results.map((each) => each.series));
  const checks = mergedChecks(
    [...results, ...kept].map((each) => each.checks),
    { phases: measures.phases, series },
  );
  const { schema, seed, plan } = first;
  const whole: Omit<FleetResult, 'thresholds'> = {
    schema,
    seed,
    plan,
    ended: worstEnd(results),
    shards: results.flatMap(({ shards }) => shards).sort((one, other) => one.index - other.index),
    ...span,
    validity: generator.reasons.length === 0 ? 'valid' : 'invalid',
    generator,
    ...mergedSurroundings(results),
    ...mergedDeployment(results),
    funnel: sums(results.map(({ funnel }) => funnel)) as Funnel,
    accounts: sums(results.map(({ accounts }) => accounts)) as Accounts,
    balance: mergedBalance(results.map(({ balance }) => balance)),
    updates: mergedUpdates([...results, ...kept].map(({ updates }) => updates)),
    ...measures,
    series,
    ...(sharedKeys === undefined ? {} : { sharedKeys }),
    ...mergedComparison(results),
    ...mergedSpread(results),
    ...(checks === undefined ? {} : { checks }),
    devices: results.flatMap(({ devices }) => devices).sort((a, b) => a.index - b.index),
  };
  const thresholds = thresholdVerdicts(whole.plan.thresholds ?? [], measuresOf(whole));
  return { ...whole, thresholds };
}

/** In phases of its own, so that the phases of a result add up to its whole. */
function keptMeasures(part: PartFigures) {
  const { startMs, endMs, latencies, operations, errors, schedule } = part;
  const { lateness } = schedule;
  const phase = { name: 'of failed workers', startMs, endMs, lateness, latencies, operations };
  return { latencies, operations, errors, phases: operations.length === 0 ? [] : [phase] };
}

/** Merges what happened to the shards of parts that were themselves distributed. */
function mergedSpread(results: readonly FleetResult[]): Pick<FleetResult, 'spread'> {
  const spreads = results.flatMap(({ spread = [] }) => spread);
  if (spreads.length === 0) return {};
  const missing = spreads.flatMap(({ missingDeviceMs = [] }) => missingDeviceMs);
  const sum = missing.reduce((total, each) => total + each, 0);
  return {
    spread: {
      takeovers: spreads.flatMap(({ takeovers }) => takeovers),
      lost: spreads.flatMap(({ lost }) => lost),
      ...(sum > 0 && { missingDeviceMs: sum }),
    },
  };
}

/** Absent where no part has any. */
function mergedSurroundings(
  results: readonly FleetResult[],
): Pick<FleetResult, 'machines' | 'events'> {
  const machines = mergedMachines(results.flatMap((each) => each.machines ?? []));
  const events = results.flatMap((each) => each.events ?? []);
  const faults = [...new Set(events.flatMap(({ fault = [] }) => fault))].sort();
  const total = (field: 'written' | 'lost'): number =>
    events.reduce((sum, each) => sum + each[field], 0);
  const fault = faults.length === 0 ? {} : { fault: faults.join(', ') };
  return {
    ...(machines.length > 0 && { machines }),
    ...(events.length > 0 && {
      events: { written: total('written'), lost: total('lost'), ...fault },
    }),
  };
}

function mergedComparison(results: readonly FleetResult[]): Pick<FleetResult, 'herd'> {
  const comparisons = results.flatMap(({ herd }) => (herd === undefined ? [] : [herd]));
  return comparisons.length === 0 ? {} : { herd: mergedBackoffComparisons(comparisons) };
}

function checkSamePlan(first: FleetResult, results: readonly FleetResult[]): void {
  for (const { plan, seed } of results) {
    if (seed !== first.seed) {
      throw new MergeError(`the results have different seeds, "${first.seed}" and "${seed}"`);
    }
    const [difference, ...more] = planDifferences(first.plan, plan);
    if (difference === undefined) continue;
    const rest = more.length === 0 ? '' : `, and ${more.length} more`;
    throw new MergeError(`the results are of different plans: ${difference}${rest}`);
  }
}

function checkApart(results: readonly FleetResult[]): void {
  const taken: { readonly name: string; readonly first: number; readonly end: number }[] = [];
  for (const { shards, plan } of results) {
    for (const shard of shards) {
      const name = `${shard.index + 1}/${shard.of}`;
      const { first, end } = deviceRange({ devices: plan.devices, shard });
      const other = taken.find((each) => first < each.end && each.first < end);
      if (other) throw new MergeError(`shards ${other.name} and ${name} overlap: merge each once`);
      taken.push({ name, first, end });
    }
  }
}

/** From the worst on: what ended one part early ended the whole in that way. */
const ends: readonly Ended[] = [
  'interrupted',
  'threshold',
  'duration',
  'stages',
  'iterations',
  'settled',
];

function worstEnd(results: readonly FleetResult[]): Ended {
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

function mergedDeployment(
  results: readonly FleetResult[],
): Pick<FleetResult, 'deploymentId' | 'deployedMs'> {
  const ids = new Set(results.flatMap(({ deploymentId = [] }) => deploymentId));
  const [deploymentId] = ids;
  const moments = results.flatMap(({ deployedMs = [] }) => deployedMs);
  return {
    ...(deploymentId !== undefined && ids.size === 1 && { deploymentId }),
    ...(moments.length > 0 && { deployedMs: Math.min(...moments) }),
  };
}

function mergedGenerator(
  results: readonly FleetResult[],
  kept: readonly PartFigures[],
  durationMs: number,
): GeneratorFacts {
  const processes = results
    .flatMap(({ generator }) => generator.processes)
    .sort((one, other) => one.shard - other.shard || one.durationMs - other.durationMs);
  const schedules = [
    ...results.map(({ generator }) => generator.schedule),
    ...kept.map(({ schedule }) => schedule),
  ];
  return judgedGenerator({ processes, schedule: scheduleOf(schedules, durationMs) });
}

function mergedBalance(balances: readonly Reconciliation[]): Reconciliation {
  const because = [...new Set(balances.flatMap(({ because: said = [] }) => said))].sort();
  const statistics = new Map<string, Reconciliation['statistics'][number]>();
  for (const row of balances.flatMap(({ statistics: rows }) => rows)) {
    statistics.set(JSON.stringify(row), row);
  }
  const total = (field: 'withoutArtifact' | 'lostReports' | 'doubledReports'): number =>
    balances.reduce((sum, balance) => sum + balance[field], 0);
  return {
    checked: balances.every(({ checked }) => checked),
    ok: balances.every(({ ok }) => ok),
    ...(because.length > 0 && { because: because.join('; ') }),
    books: booksInAll(balances),
    deploymentsChecked: Math.max(...balances.map(({ deploymentsChecked }) => deploymentsChecked)),
    withoutArtifact: total('withoutArtifact'),
    lostReports: total('lostReports'),
    doubledReports: total('doubledReports'),
    differences: balances
      .flatMap(({ differences }) => differences)
      .sort((one, other) => one.deviceIndex - other.deviceIndex)
      .slice(0, DIFFERENCES_MAX),
    statistics: [...statistics.keys()].sort().flatMap((key) => statistics.get(key) ?? []),
  };
}

/** The server records that were read for every part. */
function booksInAll(balances: readonly Reconciliation[]): Reconciliation['books'] {
  const [first, ...others] = balances;
  return (first?.books ?? []).filter((book) => others.every(({ books }) => books.includes(book)));
}

/** Adds field by field. */
function sums(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const row of counts) {
    for (const [name, count] of Object.entries(row)) total[name] = (total[name] ?? 0) + count;
  }
  return total;
}
