/** A row of the benchmark: a ratio of one figure of Fleetbed and of its baseline. */
import * as v from 'valibot';

const spreadShape = v.object({ median: v.number(), min: v.number(), max: v.number() });
const figuresShape = v.object({
  name: v.string(),
  /** Figures over all rounds, in the unit of the row. */
  figures: spreadShape,
});

/** A row as JSON. Every ratio is "higher is better": 1 is as good as the baseline. */
export const rowShape = v.object({
  /** Name of the measurement, such as `GET next -> 204`; unique within its part. */
  title: v.string(),
  /** Unit of all absolute figures of the row, such as `responses/CPU s`. */
  unit: v.string(),
  subject: figuresShape,
  baseline: figuresShape,
  ratio: spreadShape,
  /** Least ratio; null without a goal. */
  goal: v.nullable(v.number()),
  verdict: v.picklist(['met', 'missed', 'no goal']),
  /** Further programs, each with its own ratio to the baseline. */
  others: v.array(v.object({ ...figuresShape.entries, ratio: spreadShape })),
  /** Other observations, in one sentence; empty without any. */
  note: v.string(),
});

/** Median and range of the figures of all rounds. */
export type FigureSpread = v.InferOutput<typeof spreadShape>;
export type BenchRow = v.InferOutput<typeof rowShape>;

/** A measured program with one figure for each round, in order. */
export interface RoundFigures {
  readonly name: string;
  readonly values: readonly number[];
}

/**
 * The measurements of a row: the rounds of Fleetbed, of its baseline and of other programs, and the
 * goal.
 */
export interface RowFacts {
  readonly title: string;
  readonly unit: string;
  /** The direction of better figures: `higher` for a rate, `lower` for a time or a size. */
  readonly better: 'higher' | 'lower';
  readonly goal?: number;
  readonly subject: RoundFigures;
  readonly baseline: RoundFigures;
  readonly others?: readonly RoundFigures[];
  readonly note?: string;
}

/**
 * Share of the goal below which a ratio fails the run; from there up to the goal it counts as
 * missed.
 */
const FAILING_SHARE = 0.5;

/** Upper limit of ratios; a higher one only means that the measured figure is near zero. */
const RATIO_MAX = 99;

/**
 * Returns the row of these measurements. A ratio is computed for each round; the median of the
 * ratios counts.
 */
export function rowOf({
  title,
  unit,
  better,
  goal,
  subject,
  baseline,
  ...rest
}: RowFacts): BenchRow {
  const compareWithBaseline = (one: RoundFigures): FigureSpread => ratioOf(one, baseline, better);
  const ratio = compareWithBaseline(subject);
  return {
    title,
    unit,
    subject: figuresOf(subject),
    baseline: figuresOf(baseline),
    ratio,
    goal: goal ?? null,
    verdict: goal === undefined ? 'no goal' : ratio.median >= goal ? 'met' : 'missed',
    others: (rest.others ?? []).map((one) => ({
      ...figuresOf(one),
      ratio: compareWithBaseline(one),
    })),
    note: rest.note ?? '',
  };
}

/**
 * Returns the row of a figure that is compared with a fixed limit, such as 20 s. Its ratio is limit
 * / measured, and its goal is 1.
 * @param limit in the row's unit
 */
export function limitRow({
  limit,
  ...facts
}: Omit<RowFacts, 'better' | 'goal' | 'baseline'> & { readonly limit: number }): BenchRow {
  const values = facts.subject.values.map(() => limit);
  return rowOf({ ...facts, better: 'lower', goal: 1, baseline: { name: 'limit', values } });
}

/**
 * Returns true when the ratio is so far below its goal that the run fails. The best round counts,
 * because a busy machine spoils some rounds.
 */
export function isFailing({ goal, ratio }: BenchRow): boolean {
  return goal !== null && ratio.max < goal * FAILING_SHARE;
}

/**
 * Returns the least value, the greatest, and the median: the upper of the two middle values for an
 * even number.
 */
export function spreadOf(values: readonly number[]): FigureSpread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Returns the median; the upper of the two middle values for an even number, 0 for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function figuresOf({ name, values }: RoundFigures) {
  return { name, figures: spreadOf(values) };
}

/** Returns the ratios of all rounds as a spread. @throws Error when a round has no ratio */
function ratioOf(one: RoundFigures, base: RoundFigures, better: RowFacts['better']): FigureSpread {
  return spreadOf(
    one.values.map((value, round) => {
      const baseValue = base.values[round] ?? Number.NaN;
      const ratio = better === 'higher' ? value / baseValue : baseValue / value;
      if (Number.isNaN(ratio)) throw new Error(`${one.name} or ${base.name} was not measured`);
      return Math.min(ratio, RATIO_MAX);
    }),
  );
}
