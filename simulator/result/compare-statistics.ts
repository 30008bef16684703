/**
 * Statistical tests whether two samples differ, computed from histograms. The tests assume no
 * distribution: ranks bound the percentiles, and whole samples are compared by ranks.
 */

/** A sample as pairs of a value and its count, in ascending order of values. */
export type CountedSample = readonly (readonly [value: number, count: number])[];

/** A percentile with a confidence interval, at the confidence level of `z`. */
export interface BoundedPercentile {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Returns the number of values in the sample. */
export function sizeOf(sample: CountedSample): number {
  return sample.reduce((sum, [, count]) => sum + count, 0);
}

/**
 * Returns a percentile with bounds from order statistics. The rank of a percentile in a sample is
 * binomially distributed, independently of the distribution of the values.
 * @param share the percentile as a share from 0 to 1
 * @param z half width of the interval in standard deviations
 */
export function boundedPercentile(
  sample: CountedSample,
  share: number,
  z: number,
): BoundedPercentile {
  const size = sizeOf(sample);
  const rank = size * share;
  const slack = z * Math.sqrt(size * share * (1 - share));
  return {
    value: valueAtRank(sample, Math.ceil(rank)),
    low: valueAtRank(sample, Math.floor(rank - slack)),
    high: valueAtRank(sample, Math.ceil(rank + slack) + 1),
  };
}

/** Result of a rank test. */
export interface RankTest {
  /**
   * Probability that a value of the second sample exceeds a value of the first; 0.5 when the
   * samples do not differ.
   */
  readonly superiority: number;
  /**
   * Deviation of `superiority` from 0.5 in standard deviations; positive when the second sample is
   * larger.
   */
  readonly z: number;
}

/**
 * Performs the Mann-Whitney test, with the correction for ties, which are frequent in histograms.
 */
export function rankTest(first: CountedSample, second: CountedSample): RankTest {
  const [firstSize, secondSize] = [sizeOf(first), sizeOf(second)];
  const size = firstSize + secondSize;
  if (firstSize === 0 || secondSize === 0) return { superiority: 0.5, z: 0 };
  let wins = 0;
  let ties = 0;
  let below = 0;
  for (const [firstCount, secondCount] of alignSamples(first, second)) {
    wins += secondCount * (below + firstCount / 2);
    ties += (firstCount + secondCount) ** 3 - (firstCount + secondCount);
    below += firstCount;
  }
  const pairs = firstSize * secondSize;
  const variance = (pairs / 12) * (size + 1 - ties / (size * (size - 1)));
  const z = variance > 0 ? (wins - pairs / 2) / Math.sqrt(variance) : 0;
  return { superiority: wins / pairs, z };
}

/** A number of events, and the total of which it is a part. */
export interface Proportion {
  readonly count: number;
  readonly total: number;
}

/** Returns how far the second proportion exceeds the first, in standard deviations. */
export function proportionTest(first: Proportion, second: Proportion): number {
  const pooled = (first.count + second.count) / (first.total + second.total);
  const variance = pooled * (1 - pooled) * (1 / first.total + 1 / second.total);
  if (!(variance > 0)) return 0;
  return (second.count / second.total - first.count / first.total) / Math.sqrt(variance);
}

/**
 * Returns the value at a rank, counted from 1. A rank outside the sample returns its first or last
 * value.
 */
function valueAtRank(sample: CountedSample, rank: number): number {
  let passedCount = 0;
  let last = 0;
  for (const [value, count] of sample) {
    passedCount += count;
    last = value;
    if (passedCount >= rank) return value;
  }
  return last;
}

/** Returns the counts of each value in both samples, in ascending order of values. */
function alignSamples(
  first: CountedSample,
  second: CountedSample,
): (readonly [ours: number, theirs: number])[] {
  const rows = new Map<number, [number, number]>();
  for (const [value, count] of first) rows.set(value, [count, 0]);
  for (const [value, count] of second) rows.set(value, [rows.get(value)?.[0] ?? 0, count]);
  return [...rows].sort(([one], [other]) => one - other).map(([, counts]) => counts);
}
