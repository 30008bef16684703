/** A row of the benchmark: a ratio of one figure of Fleetbed and of its baseline. */
import * as v from 'valibot';

const spreadShape = v.object({ median: v.number(), min: v.number(), max: v.number() });
const figuresShape = v.object({
  name: v.string(),
  /** In the unit of the row, over its rounds. */
  figures: spreadShape,
});

/** A row as JSON. Every ratio is "higher is better": 1 is as good as the baseline. */
export const rowShape = v.object({
  /** What is measured, such as `GET next -> 204`; unique within its part. */
  what: v.string(),
  /** Of all absolute figures of the row, such as `answers/CPU s`. */
  unit: v.string(),
  subject: figuresShape,
  baseline: figuresShape,
  ratio: spreadShape,
  /** Least ratio; null where none is set. */
  goal: v.nullable(v.number()),
  verdict: v.picklist(['met', 'missed', 'no goal']),
  /** Shown for comparison, each with its own ratio to the baseline. */
  others: v.array(v.object({ ...figuresShape.entries, ratio: spreadShape })),
  /** What else was seen, in a sentence; empty where nothing was. */
  note: v.string(),
});

/** Median and range of what all rounds gave. */
export type Spread = v.InferOutput<typeof spreadShape>;
export type Row = v.InferOutput<typeof rowShape>;

/** One contender with a figure from each round, in the order of the rounds. */
export interface Measured {
  readonly name: string;
  readonly values: readonly number[];
}

/** What a row is made of. */
export interface RowFacts {
  readonly what: string;
  readonly unit: string;
  /** Whether a good figure is high (a rate) or low (a time, a size). */
  readonly better: 'higher' | 'lower';
  readonly goal?: number;
  readonly subject: Measured;
  readonly baseline: Measured;
  readonly others?: readonly Measured[];
  readonly note?: string;
}

/** A ratio below this share of its goal fails the run; between the two it counts as missed. */
const FAILING_SHARE = 0.5;

/** Upper limit of ratios; a higher one only means that the measured figure is near zero. */
const RATIO_MAX = 99;

/** The row of these measurements. Ratios are taken within each round, then their median. */
export function rowOf({ what, unit, better, goal, subject, baseline, ...rest }: RowFacts): Row {
  const against = (one: Measured): Spread => ratioOf(one, baseline, better);
  const ratio = against(subject);
  return {
    what,
    unit,
    subject: figuresOf(subject),
    baseline: figuresOf(baseline),
    ratio,
    goal: goal ?? null,
    verdict: goal === undefined ? 'no goal' : ratio.median >= goal ? 'met' : 'missed',
    others: (rest.others ?? []).map((one) => ({ ...figuresOf(one), ratio: against(one) })),
    note: rest.note ?? '',
  };
}

/**
 * The row of what is held against a fixed limit, such as 20 s: its ratio is limit / measured and
 * its goal 1.
 * @param limit in the row's unit
 */
export function limitRow({
  limit,
  ...facts
}: Omit<RowFacts, 'better' | 'goal' | 'baseline'> & { readonly limit: number }): Row {
  const values = facts.subject.values.map(() => limit);
  return rowOf({ ...facts, better: 'lower', goal: 1, baseline: { name: 'limit', values } });
}

/**
 * Whether a ratio is so far below its goal that the run fails: in the best round too, as a busy
 * machine spoils some.
 */
export function isFailing({ goal, ratio }: Row): boolean {
  return goal !== null && ratio.max < goal * FAILING_SHARE;
}

/** Median (the upper of the two middle values for an even number), least and greatest. */
export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Returns the median; the upper of the two middle values for an even number, 0 for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function figuresOf({ name, values }: Measured) {
  return { name, figures: spreadOf(values) };
}

/** @throws Error when there is no figure to take a ratio of */
function ratioOf(one: Measured, base: Measured, better: RowFacts['better']): Spread {
  return spreadOf(
    one.values.map((value, round) => {
      const other = base.values[round] ?? Number.NaN;
      const ratio = better === 'higher' ? value / other : other / value;
      if (Number.isNaN(ratio)) throw new Error(`${one.name} or ${base.name} was not measured`);
      return Math.min(ratio, RATIO_MAX);
    }),
  );
}
