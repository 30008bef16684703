/**
 * Tests if two samples differ, computed from histograms. No distribution is assumed: percentiles
 * are bounded by ranks, whole samples are compared by ranks.
 */

/** Pairs of a value and its count, ascending. */
export type Counted = readonly (readonly [value: number, count: number])[];

/** A percentile and its bounds, at the confidence level of `z`. */
export interface BoundedPercentile {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Returns the size of the sample. */
export function sizeOf(sample: Counted): number {
  return sample.reduce((sum, [, count]) => sum + count, 0);
}

/**
 * Returns a percentile with bounds from order statistics: the rank of a percentile in a sample is
 * binomially distributed, whatever is measured.
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

/** Result of a rank test. */
export interface RankTest {
  /**
   * Probability that a value of the second sample exceeds one of the first; 0.5 when they are
   * alike.
   */
  readonly superiority: number;
  /** Deviation from that in standard deviations; its sign is that of the shift. */
  readonly z: number;
}

/** The Mann-Whitney test with the correction for ties, of which a histogram has many. */
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

/** How many of a total are of one kind. */
export interface Proportion {
  readonly count: number;
  readonly of: number;
}

/** Returns the standard deviations by which the second proportion exceeds the first. */
export function proportionTest(first: Proportion, second: Proportion): number {
  const pooled = (first.count + second.count) / (first.of + second.of);
  const variance = pooled * (1 - pooled) * (1 / first.of + 1 / second.of);
  if (!(variance > 0)) return 0;
  return (second.count / second.of - first.count / first.of) / Math.sqrt(variance);
}

/** Returns the value at a rank, starting at 1; ranks outside are clamped. */
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

/** Returns, for each value of either sample in ascending order, its count in each of them. */
function aligned(first: Counted, second: Counted): (readonly [ours: number, theirs: number])[] {
  const rows = new Map<number, [number, number]>();
  for (const [value, count] of first) rows.set(value, [count, 0]);
  for (const [value, count] of second) rows.set(value, [rows.get(value)?.[0] ?? 0, count]);
  return [...rows].sort(([one], [other]) => one - other).map(([, counts]) => counts);
}
