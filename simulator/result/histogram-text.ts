/**
 * Histograms as text: HDR's V2 encoding, compressed, in base64. The library encodes them. This file
 * decodes them, because the library trusts every length and count, and results come from files.
 */
import { inflateSync } from 'node:zlib';
import { encodeIntoCompressedBase64, Int32Histogram } from 'hdr-histogram-js';

/** Largest duration in microseconds: 25 days, longer than any exchange or update. */
export const LONGEST_MICROSECONDS = 2 ** 41;
const SIGNIFICANT_DIGITS = 3;
/** Limit on a decompressed histogram; a full histogram is much smaller. */
const PLAIN_MAX_BYTES = 2 ** 19;
const COOKIES = { compressed: 0x1c849314, plain: 0x1c849313 };
const COMPRESSED_HEAD_BYTES = 8;
const PLAIN_HEAD_BYTES = 40;
const COUNT_MAX = 2 ** 31 - 1;

/** Thrown for text that is not a histogram in this format. */
export class HistogramError extends Error {
  override readonly name = 'HistogramError';
}

export function emptyCounts(): Int32Histogram {
  return new Int32Histogram(1, LONGEST_MICROSECONDS, SIGNIFICANT_DIGITS);
}

/**
 * Encodes a histogram. The library's output also contains the unused end of its buffer, which is
 * removed here.
 */
export function encodedCounts(counts: Int32Histogram): string {
  const bytes = Buffer.from(encodeIntoCompressedBase64(counts), 'base64');
  const length = COMPRESSED_HEAD_BYTES + bytes.readUInt32BE(4);
  return bytes.subarray(0, length).toString('base64');
}

/**
 * Decodes a histogram.
 * @throws HistogramError when the text is not a histogram of this range and precision
 */
export function decodedCounts(text: string): Int32Histogram {
  const plain = inflateHistogram(Buffer.from(text, 'base64'));
  const isOurs =
    plain.length >= PLAIN_HEAD_BYTES &&
    plain.readUInt32BE(0) === COOKIES.plain &&
    plain.readUInt32BE(4) === plain.length - PLAIN_HEAD_BYTES &&
    plain.readUInt32BE(12) === SIGNIFICANT_DIGITS &&
    plain.readBigUInt64BE(16) === 1n &&
    plain.readBigUInt64BE(24) === BigInt(LONGEST_MICROSECONDS);
  if (!isOurs) throw new HistogramError('a histogram has a different kind, range or precision');
  return filledCounts(plain.subarray(PLAIN_HEAD_BYTES));
}

function inflateHistogram(bytes: Buffer): Buffer {
  if (bytes.length < COMPRESSED_HEAD_BYTES || bytes.readUInt32BE(0) !== COOKIES.compressed) {
    throw new HistogramError('a histogram is not in the compressed V2 encoding');
  }
  const packedCounts = bytes.subarray(COMPRESSED_HEAD_BYTES);
  try {
    return inflateSync(packedCounts, { maxOutputLength: PLAIN_MAX_BYTES });
  } catch (error) {
    throw new HistogramError('a histogram cannot be decompressed', { cause: error });
  }
}

/**
 * Decodes the counts of the buckets in order. A negative number stands for that many empty buckets.
 */
function filledCounts(payload: Buffer): Int32Histogram {
  const counts = emptyCounts();
  let index = 0;
  let total = 0;
  let highest = 0;
  for (let position = 0; position < payload.length; ) {
    const { value, end } = signedAt(payload, position);
    position = end;
    const room = counts.countsArrayLength - index;
    if (value > COUNT_MAX || -value > room || room < 1) {
      throw new HistogramError('a histogram has counts beyond its range');
    }
    if (value > 0) {
      counts.setCountAtIndex(index, value);
      if (total === 0) counts.updateMinAndMax(endOf(index, counts));
      total += value;
      highest = index;
    }
    index += value < 0 ? -value : 1;
  }
  if (total > 0) counts.updateMinAndMax(endOf(highest, counts));
  counts.setTotalCount(total);
  return counts;
}

function endOf(index: number, counts: Int32Histogram): number {
  return counts.highestEquivalentValue(counts.valueFromIndex(index));
}

const VARINT_MAX_BYTES = 9;

/**
 * Decodes a variable-length integer: seven bits per byte, lowest first, in zigzag encoding, where
 * even numbers are positive and odd numbers negative.
 */
function signedAt(
  payload: Buffer,
  start: number,
): { readonly value: number; readonly end: number } {
  const first = payload[start] ?? 0x80;
  // Fast path: nearly all counts fit into one byte, and a coordinator decodes many histograms every
  // second.
  if (first < 0x80) return { value: first & 1 ? -((first + 1) >> 1) : first >> 1, end: start + 1 };
  let unsigned = 0;
  for (let digit = 0; digit < VARINT_MAX_BYTES; digit++) {
    const byte = payload[start + digit];
    if (byte === undefined) throw new HistogramError('a histogram is truncated');
    unsigned += (byte & 0x7f) * 128 ** digit;
    if (byte >= 0x80 && digit < VARINT_MAX_BYTES - 1) continue;
    const value = unsigned % 2 === 0 ? unsigned / 2 : -(unsigned + 1) / 2;
    return { value, end: start + digit + 1 };
  }
  throw new HistogramError('a histogram is truncated');
}
