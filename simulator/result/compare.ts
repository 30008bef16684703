/**
 * Decides whether one run was slower or had more errors than another, so that a build can fail. A
 * shift counts only when chance does not explain it and it exceeds the noise floor.
 */
import {
  boundedPercentile,
  type CountedSample,
  type Proportion,
  proportionTest,
  rankTest,
  sizeOf,
} from './compare-statistics.ts';
import { HistogramError } from './histogram-text.ts';
import { DurationHistogram } from './histograms.ts';
import { planDifferences } from './plan-differences.ts';
import type { FleetResult } from './result.ts';
import type { Figures } from './result-figures.ts';
import { countsOf } from './thresholds-measures.ts';

/** The verdicts of a comparison. */
type ComparisonVerdict = 'regression' | 'improvement' | 'no difference' | 'not enough data';

/** One measure of one operation or kind of update, in both runs. */
interface ComparisonRow {
  /** The operation, or the kind of update. */
  readonly subject: string;
  readonly measure: 'p50' | 'p90' | 'p99' | 'ranks' | 'errors' | 'success';
  /** Value in milliseconds, or a share from 0 to 1, in the first and in the second run. */
  readonly before: number;
  readonly after: number;
  readonly better: 'lower' | 'higher';
  /** Change in percent of `before`; null when `before` is 0. */
  readonly changePercent: number | null;
  readonly verdict: ComparisonVerdict;
  /** Reason for the verdict, with the decisive numbers. */
  readonly reason: string;
}

type UndirectedRow = Omit<ComparisonRow, 'better' | 'changePercent'>;

/** A comparison of two runs. */
export interface RunComparison {
  readonly verdict: ComparisonVerdict;
  /** Whether the plans are the same; `notes` lists their differences. */
  readonly plans: 'same' | 'different';
  readonly rows: readonly ComparisonRow[];
  /** Reasons why the runs are less comparable: different plans, or invalid figures. */
  readonly notes: readonly string[];
}

/** Largest shift that counts as noise. Two runs of the same version show how large it should be. */
export interface NoiseFloor {
  /** Shift of a percentile as a share of its value. */
  readonly share: number;
  /** Shift of a percentile in milliseconds; the larger of both values applies. */
  readonly milliseconds: number;
}

/** Thrown with one sentence when the figures of a result file cannot be read. */
export class ComparisonError extends Error {
  override readonly name = 'ComparisonError';
}

/** Noise floor when the caller does not pass one. */
const defaultNoiseFloor: NoiseFloor = { share: 0.1, milliseconds: 1 };

/**
 * Deviation in standard deviations that chance exceeds once in a thousand rows. It is high because
 * a comparison has many rows.
 */
const Z_MIN = 3.29;
/** Minimum number of values beyond a percentile for which its position is considered known. */
const BEYOND_MIN = 10;
/** Smallest relevant deviation of `superiority` from 0.5. */
const SUPERIORITY_MIN = 0.06;
/** Smallest relevant shift of a share of errors or successes. */
const SHARE_SHIFT_MIN = 0.001;
const PROPORTION_MIN = 100;

const percentiles = [
  { measure: 'p50', share: 0.5 },
  { measure: 'p90', share: 0.9 },
  { measure: 'p99', share: 0.99 },
] as const;

/**
 * Compares the second run with the first.
 * @throws ComparisonError when a result contains a histogram that cannot be read
 */
export function compareResults(
  before: FleetResult,
  after: FleetResult,
  floor: NoiseFloor = defaultNoiseFloor,
): RunComparison {
  try {
    const rows = [
      ...durationRows(before, after, floor),
      ...errorRows(before, after),
      ...successRows(before, after),
    ].map(withDirection);
    const different = planDifferences(before.plan, after.plan);
    const notes = [
      ...invalidNotes(before, after),
      ...different.map((difference) => `the plans differ: ${difference}`),
    ];
    const isInvalid = [before, after].some(({ validity }) => validity === 'invalid');
    const verdict = isInvalid ? 'not enough data' : overall(rows);
    return { verdict, plans: different.length === 0 ? 'same' : 'different', rows, notes };
  } catch (error) {
    if (!(error instanceof HistogramError)) throw error;
    throw new ComparisonError(`a result is damaged: ${error.message}`, { cause: error });
  }
}

function withDirection(row: UndirectedRow): ComparisonRow {
  const { measure, before, after } = row;
  return {
    ...row,
    better: measure === 'success' ? 'higher' : 'lower',
    changePercent: before === 0 ? null : (100 * (after - before)) / before,
  };
}

function overall(rows: readonly ComparisonRow[]): ComparisonVerdict {
  const hasVerdict = (verdict: ComparisonVerdict): boolean =>
    rows.some((row) => row.verdict === verdict);
  if (hasVerdict('regression')) return 'regression';
  if (hasVerdict('improvement')) return 'improvement';
  return hasVerdict('no difference') ? 'no difference' : 'not enough data';
}

interface SamplePair {
  readonly subject: string;
  readonly before: CountedSample;
  readonly after: CountedSample;
}

function durationRows(before: FleetResult, after: FleetResult, floor: NoiseFloor): UndirectedRow[] {
  const [first, second] = [durationsIn(before), durationsIn(after)];
  const subjects = [...first.keys()].filter((subject) => second.has(subject));
  return subjects.flatMap((subject) => {
    const pair = { subject, before: countedOf(first, subject), after: countedOf(second, subject) };
    return [
      ...percentiles.map((percentile) => percentileRow(pair, percentile, floor)),
      rankRow(pair, floor),
    ];
  });
}

function durationsIn({ latencies, updates }: FleetResult): ReadonlyMap<string, Figures> {
  const rows = new Map<string, Figures>();
  for (const row of latencies) rows.set(row.operation, row);
  for (const row of updates.whole) rows.set(`update from ${row.from} to ${row.outcome}`, row);
  return rows;
}

function countedOf(durations: ReadonlyMap<string, Figures>, subject: string): CountedSample {
  const figures = durations.get(subject);
  return figures === undefined ? [] : DurationHistogram.of(figures).buckets();
}

function percentileRow(
  { subject, before, after }: SamplePair,
  { measure, share }: (typeof percentiles)[number],
  floor: NoiseFloor,
): UndirectedRow {
  const [first, second] = [before, after].map((sample) =>
    boundedPercentile(sample, share, Z_MIN),
  ) as [ReturnType<typeof boundedPercentile>, ReturnType<typeof boundedPercentile>];
  const row = { subject, measure, before: first.value, after: second.value };
  const fewest = Math.min(sizeOf(before), sizeOf(after));
  if (fewest * (1 - share) < BEYOND_MIN) return tooFew(row, fewest);
  const apart = first.high < second.low || second.high < first.low;
  const shifted = isBeyond(row, floor);
  const bounds = `${range(first)} before, ${range(second)} after`;
  if (apart && shifted) return { ...row, verdict: direction(row), reason: bounds };
  const reason = apart ? `${bounds}: apart, but within the noise` : bounds;
  return { ...row, verdict: 'no difference', reason };
}

function rankRow({ subject, before, after }: SamplePair, floor: NoiseFloor): UndirectedRow {
  const middle = (sample: CountedSample): number => boundedPercentile(sample, 0.5, 0).value;
  const medians = { before: middle(before), after: middle(after) };
  const row = { subject, measure: 'ranks' as const, ...medians };
  const fewest = Math.min(sizeOf(before), sizeOf(after));
  if (fewest < 2 * BEYOND_MIN) return tooFew(row, fewest);
  const { superiority, z } = rankTest(before, after);
  const matters = Math.abs(superiority - 0.5) >= SUPERIORITY_MIN && isBeyond(row, floor);
  const reason = `the second run is slower in ${percent(superiority)} of all pairs`;
  if (Math.abs(z) < Z_MIN || !matters) return { ...row, verdict: 'no difference', reason };
  return { ...row, verdict: z > 0 ? 'regression' : 'improvement', reason };
}

function errorRows(before: FleetResult, after: FleetResult): UndirectedRow[] {
  const operationsBefore = new Set(before.operations.map(({ operation }) => operation));
  const both = after.operations.filter(({ operation }) => operationsBefore.has(operation));
  return both.map(({ operation: subject }) => {
    const [first, second] = [before, after].map(({ operations }) => {
      const { errors, exchanges } = countsOf(operations, [subject]);
      return { count: errors, total: exchanges };
    }) as [Proportion, Proportion];
    return shareRow({ subject, measure: 'errors', worse: 'more' }, first, second);
  });
}

function successRows(before: FleetResult, after: FleetResult): UndirectedRow[] {
  const [first, second] = [before, after].map(({ deviceCounts: { done, failed } }) => {
    return { count: done, total: done + failed };
  }) as [Proportion, Proportion];
  if (first.total === 0 || second.total === 0) return [];
  return [shareRow({ subject: 'updates', measure: 'success', worse: 'less' }, first, second)];
}

function shareRow(
  figure: {
    readonly subject: string;
    readonly measure: 'errors' | 'success';
    readonly worse: 'more' | 'less';
  },
  first: Proportion,
  second: Proportion,
): UndirectedRow {
  const { subject, measure, worse } = figure;
  const shareOf = ({ count, total }: Proportion): number => (total === 0 ? 0 : count / total);
  const row = { subject, measure, before: shareOf(first), after: shareOf(second) };
  const fewest = Math.min(first.total, second.total);
  if (fewest < PROPORTION_MIN) return tooFew(row, fewest);
  const reason = `${first.count} of ${first.total} before, ${second.count} of ${second.total} after`;
  const z = proportionTest(first, second);
  if (Math.abs(z) < Z_MIN || Math.abs(row.after - row.before) < SHARE_SHIFT_MIN) {
    return { ...row, verdict: 'no difference', reason };
  }
  const isWorse = worse === 'more' ? z > 0 : z < 0;
  return { ...row, verdict: isWorse ? 'regression' : 'improvement', reason };
}

type MeasuredRow = Omit<UndirectedRow, 'verdict' | 'reason'>;

function tooFew(row: MeasuredRow, fewest: number): UndirectedRow {
  return { ...row, verdict: 'not enough data', reason: `only ${fewest} in one of the runs` };
}

function isBeyond({ before, after }: MeasuredRow, { share, milliseconds }: NoiseFloor): boolean {
  return Math.abs(after - before) > Math.max(milliseconds, share * Math.min(before, after));
}

function direction({ before, after }: MeasuredRow): ComparisonVerdict {
  return after > before ? 'regression' : 'improvement';
}

/** Returns the reasons why the figures of either run are invalid, as notes. */
function invalidNotes(before: FleetResult, after: FleetResult): string[] {
  const runs = [['first', before] as const, ['second', after] as const];
  return runs.flatMap(([which, { generator }]) =>
    generator.reasons.map((reason) => `the ${which} run is invalid: ${reason}`),
  );
}

function range({ low, high }: { readonly low: number; readonly high: number }): string {
  return `${roundedText(low)} to ${roundedText(high)} ms`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function roundedText(value: number): string {
  return String(Number(value.toPrecision(3)));
}
