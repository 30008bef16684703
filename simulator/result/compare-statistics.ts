/**
 * Tests that two samples differ, computed from histograms. Nothing is assumed of the shape of a
 * distribution: percentiles are bounded by ranks, whole samples are compared by ranks.
 */

/** Pairs of a value and how often it came, ascending. */
export type Counted = readonly (readonly [value: number, count: number])[];

/** A percentile and the bounds between which it lies, at the level of confidence of `z`. */
export interface BoundedPercentile {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** How many there are. */
export function sizeOf(sample: Counted): number {
  return sample.reduce((sum, [, count]) => sum + count, 0);
}

/**
 * A percentile with its bounds by order statistics: the rank of a percentile in a sample is
 * binomial, whatever is measured.
 * @param share from 0 to 1
 * @param z standard deviations to either side
 */
export function boundedPercentile(sample: Counted, share: number, z: number): BoundedPercentile {
  const size = sizeOf(sample);
  const rank = size * share;
  const slack = z * Math.sqrt(size * share * (1 - share));
  return {
    value: atRank(sample, Math.ceil(rank)),
    low: atRank(sample, Math.floor(rank - slack)),
    high: atRank(sample, Math.ceil(rank + slack) + 1),
  };
}

/** What a rank test found. */
export interface RankTest {
  /** Chance that a value of the second sample exceeds one of the first; 0.5 when they are alike. */
  readonly superiority: number;
  /** Standard deviations by which that is off; its sign is that of the shift. */
  readonly z: number;
}

/** Mann and Whitney's test with the correction for ties, of which a histogram is full. */
export function rankTest(first: Counted, second: Counted): RankTest {
  const [firstSize, secondSize] = [sizeOf(first), sizeOf(second)];
  const size = firstSize + secondSize;
  if (firstSize === 0 || secondSize === 0) return { superiority: 0.5, z: 0 };
  let wins = 0;
  let ties = 0;
  let below = 0;
  for (const [ours, theirs] of aligned(first, second)) {
    wins += theirs * (below + ours / 2);
    ties += (ours + theirs) ** 3 - (ours + theirs);
    below += ours;
  }
  const pairs = firstSize * secondSize;
  const variance = (pairs / 12) * (size + 1 - ties / (size * (size - 1)));
  const z = variance > 0 ? (wins - pairs / 2) / Math.sqrt(variance) : 0;
  return { superiority: wins / pairs, z };
}

/** Of so many, so many were of a kind. */
export interface Proportion {
  readonly count: number;
  readonly of: number;
}

/** Standard deviations by which the second proportion exceeds the first. */
export function proportionTest(first: Proportion, second: Proportion): number {
  const pooled = (first.count + second.count) / (first.of + second.of);
  const variance = pooled * (1 - pooled) * (1 / first.of + 1 / second.of);
  if (!(variance > 0)) return 0;
  return (second.count / second.of - first.count / first.of) / Math.sqrt(variance);
}

/** Value of the element of that rank, the first being 1; ranks outside are drawn in. */
function atRank(sample: Counted, rank: number): number {
  let seen = 0;
  let last = 0;
  for (const [value, count] of sample) {
    seen += count;
    last = value;
    if (seen >= rank) return value;
  }
  return last;
}

/** For each value of either sample in ascending order, how often each of them has it. */
function aligned(first: Counted, second: Counted): (readonly [ours: number, theirs: number])[] {
  const rows = new Map<number, [number, number]>();
  for (const [value, count] of first) rows.set(value, [count, 0]);
  for (const [value, count] of second) rows.set(value, [rows.get(value)?.[0] ?? 0, count]);
  return [...rows].sort(([one], [other]) => one - other).map(([, counts]) => counts);
}
