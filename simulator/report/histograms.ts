/**
 * Histograms of durations: HDR with three significant digits over microseconds, so that parts
 * merge to exactly what one histogram of the whole would have been. Not averages.
 */
import { inflateSync } from 'node:zlib';
import {
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  Int32Histogram,
} from 'hdr-histogram-js';
import type { Figures } from './result-figures.ts';

/** Microseconds: 25 days, longer than any exchange and any update that is waited for. */
const LONGEST_MICROSECONDS = 2 ** 41;
const SIGNIFICANT_DIGITS = 3;
const MICROSECONDS_PER_MS = 1000;
/** A full histogram of this size takes far less, compressed or not. */
const ENCODED_MAX_BYTES = 2 ** 19;
const COOKIES = { compressed: 0x1c849314, plain: 0x1c849313 };
const COMPRESSED_HEAD_BYTES = 8;

/** A text that holds no histogram of ours. */
export class HistogramError extends Error {
  override readonly name = 'HistogramError';
}

/** Durations by how often they came; what is longer than the longest is counted as that. */
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
   * Reads what `figures` has written.
   * @throws HistogramError when it is anything else
   */
  static of({ histogram, maxMs }: Pick<Figures, 'histogram' | 'maxMs'>): DurationHistogram {
    const read = new DurationHistogram(decoded(histogram));
    read.#longest = Math.round(maxMs * MICROSECONDS_PER_MS);
    return read;
  }

  get count(): number {
    return this.#counts.totalCount;
  }

  record(durationMs: number): void {
    const microseconds = Math.round(durationMs * MICROSECONDS_PER_MS);
    const bounded = Math.min(Math.max(microseconds, 0), LONGEST_MICROSECONDS);
    if (bounded > this.#longest) this.#longest = bounded;
    this.#counts.recordValue(bounded);
  }

  add(other: DurationHistogram): void {
    this.#counts.add(other.#counts);
    this.#longest = Math.max(this.#longest, other.#longest);
  }

  /** Milliseconds that `percent` of the durations do not exceed; 0 when there are none. */
  percentileMs(percent: number): number {
    const microseconds = this.#counts.getValueAtPercentile(percent);
    // A bucket reaches beyond the longest duration that fell into it.
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
      histogram: encoded(this.#counts),
    };
  }

  /** Pairs of the upper end of a bucket in milliseconds and how many fell into it, ascending. */
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

function emptyCounts(): Int32Histogram {
  return new Int32Histogram(1, LONGEST_MICROSECONDS, SIGNIFICANT_DIGITS);
}

/** The library leaves the unused end of its buffer in the text. */
function encoded(counts: Int32Histogram): string {
  const bytes = Buffer.from(encodeIntoCompressedBase64(counts), 'base64');
  const length = COMPRESSED_HEAD_BYTES + bytes.readUInt32BE(4);
  return bytes.subarray(0, length).toString('base64');
}

/** The library trusts every length that it reads: all of them are checked before it does. */
function decoded(text: string): Int32Histogram {
  try {
    checkHead(Buffer.from(text, 'base64'));
    const counts = decodeFromCompressedBase64(text);
    if (counts instanceof Int32Histogram) return counts;
  } catch (error) {
    throw new HistogramError('a histogram cannot be read', { cause: error });
  }
  throw new HistogramError('a histogram is of another kind');
}

function checkHead(bytes: Buffer): void {
  const isCompressed = bytes.readUInt32BE(0) === COOKIES.compressed;
  const plain = inflateSync(bytes.subarray(COMPRESSED_HEAD_BYTES), {
    maxOutputLength: ENCODED_MAX_BYTES,
  });
  const isOurs =
    isCompressed &&
    plain.readUInt32BE(0) === COOKIES.plain &&
    plain.readUInt32BE(12) === SIGNIFICANT_DIGITS &&
    plain.readBigUInt64BE(16) === 1n &&
    plain.readBigUInt64BE(24) === BigInt(LONGEST_MICROSECONDS);
  if (!isOurs) throw new HistogramError('a histogram of another range or precision');
}
