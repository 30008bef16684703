/**
 * Histograms of durations: HDR histograms in microseconds with three significant digits. Merging
 * the histograms of several parts gives exactly the histogram of the whole.
 */
import type { Int32Histogram } from 'hdr-histogram-js';
import {
  decodedCounts,
  emptyCounts,
  encodedCounts,
  LONGEST_MICROSECONDS,
} from './histogram-text.ts';
import type { Figures } from './result-figures.ts';

const MICROSECONDS_PER_MS = 1000;

/** A histogram of durations. Durations above the maximum count as the maximum. */
export class DurationHistogram {
  readonly #counts: Int32Histogram;
  #longest = 0;

  private constructor(counts: Int32Histogram) {
    this.#counts = counts;
  }

  static empty(): DurationHistogram {
    return new DurationHistogram(emptyCounts());
  }

  /**
   * Decodes the histogram in the output of `figures`.
   * @throws HistogramError when it is not a valid histogram
   */
  static of({ histogram, maxMs }: Pick<Figures, 'histogram' | 'maxMs'>): DurationHistogram {
    const durations = new DurationHistogram(decodedCounts(histogram));
    durations.#longest = Math.round(maxMs * MICROSECONDS_PER_MS);
    return durations;
  }

  get count(): number {
    return this.#counts.totalCount;
  }

  record(durationMs: number): void {
    const microseconds = Math.round(durationMs * MICROSECONDS_PER_MS);
    const boundedMicroseconds = Math.min(Math.max(microseconds, 0), LONGEST_MICROSECONDS);
    const counts = this.#counts;
    counts.incrementCountAtIndex(indexOf(boundedMicroseconds, counts));
    counts.incrementTotalCount();
    if (boundedMicroseconds <= this.#longest) return;
    this.#longest = boundedMicroseconds;
    // The library encodes buckets only up to the largest value that it knows.
    counts.updateMinAndMax(boundedMicroseconds);
  }

  add(other: DurationHistogram): void {
    this.#counts.add(other.#counts);
    this.#longest = Math.max(this.#longest, other.#longest);
  }

  /**
   * Returns the duration in milliseconds that `percent` percent of the durations do not exceed; 0
   * for an empty histogram.
   */
  percentileMs(percent: number): number {
    const microseconds = this.#counts.getValueAtPercentile(percent);
    // The upper end of a bucket can exceed the longest duration in it.
    return Math.min(microseconds, this.#longest) / MICROSECONDS_PER_MS;
  }

  get maxMs(): number {
    return this.#longest / MICROSECONDS_PER_MS;
  }

  figures(): Figures {
    return {
      count: this.count,
      p50Ms: this.percentileMs(50),
      p90Ms: this.percentileMs(90),
      p95Ms: this.percentileMs(95),
      p99Ms: this.percentileMs(99),
      p999Ms: this.percentileMs(99.9),
      maxMs: this.maxMs,
      histogram: encodedCounts(this.#counts),
    };
  }

  /** Returns pairs of a bucket's upper end in milliseconds and its count, in ascending order. */
  buckets(): readonly (readonly [uptoMs: number, count: number])[] {
    const rows: [number, number][] = [];
    const counts = this.#counts;
    const end = this.count === 0 ? 0 : counts.countsArrayIndex(this.#longest) + 1;
    for (let index = 0; index < end; index++) {
      const count = counts.getCountAtIndex(index);
      if (count === 0) continue;
      const upto = counts.highestEquivalentValue(counts.valueFromIndex(index));
      rows.push([upto / MICROSECONDS_PER_MS, count]);
    }
    return rows;
  }
}

/** Number of buckets per doubling. Values below twice this number have one bucket each. */
const HALF_BUCKETS = 1024;
const HALF_BUCKETS_BITS = 10;
const UNSIGNED_31_BITS = 2 ** 31;

/**
 * Returns the library's index of a value, fifteen times faster than the library, which computes a
 * logarithm and two powers.
 */
function indexOf(microseconds: number, counts: Int32Histogram): number {
  if (microseconds < 2 * HALF_BUCKETS) return microseconds;
  if (microseconds >= UNSIGNED_31_BITS) return counts.countsArrayIndex(microseconds);
  const doubling = 31 - HALF_BUCKETS_BITS - Math.clz32(microseconds);
  return doubling * HALF_BUCKETS + (microseconds >>> doubling);
}
