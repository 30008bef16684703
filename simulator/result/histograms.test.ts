import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { describe, expect, it } from 'vitest';
import { HistogramError } from './histogram-text.ts';
import { DurationHistogram } from './histograms.ts';

const LONGEST_MS = 2 ** 41 / 1000;

function histogramOf(durationsMs: readonly number[]): DurationHistogram {
  const histogram = DurationHistogram.empty();
  for (const durationMs of durationsMs) histogram.record(durationMs);
  return histogram;
}

/** Durations of every magnitude. */
const durations = fc.array(
  fc
    .tuple(fc.double({ min: 1, max: 10, noNaN: true }), fc.integer({ min: -4, max: 9 }))
    .map(([mantissa, exponent]) => mantissa * 10 ** exponent),
  { maxLength: 50 },
);

describe('a histogram of durations', () => {
  it('contains the same values as a histogram of the library', () => {
    fc.assert(
      fc.property(durations, (durationsMs) => {
        const ours = decodeFromCompressedBase64(histogramOf(durationsMs).figures().histogram);
        const library = build({
          highestTrackableValue: 2 ** 41,
          numberOfSignificantValueDigits: 3,
        });
        for (const ms of durationsMs) {
          library.recordValue(Math.min(Math.round(ms * 1000), 2 ** 41));
        }
        expect(ours.totalCount).toBe(library.totalCount);
        for (const percent of [1, 50, 90, 99, 99.9, 100]) {
          expect(ours.getValueAtPercentile(percent)).toBe(library.getValueAtPercentile(percent));
        }
      }),
      { seed: 1, numRuns: 40 },
    );
  });

  it('is unchanged after it was written and read', () => {
    fc.assert(
      fc.property(durations, (durationsMs) => {
        const figures = histogramOf(durationsMs).figures();
        expect(DurationHistogram.of(figures).figures()).toEqual(figures);
      }),
      { seed: 2, numRuns: 40 },
    );
  });

  it('is exact to a thousandth, and its maximum is exact', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.1, max: 1e9, noNaN: true }), (ms) => {
        const { p50Ms, maxMs } = histogramOf([ms]).figures();
        expect(Math.abs(p50Ms - ms)).toBeLessThanOrEqual(ms / 1000 + 0.001);
        expect(maxMs).toBeCloseTo(ms, 2);
      }),
      { seed: 3, numRuns: 40 },
    );
  });

  it('returns zeros while it is empty', () => {
    expect(histogramOf([]).figures()).toMatchObject({ count: 0, p50Ms: 0, p999Ms: 0, maxMs: 0 });
    expect(histogramOf([]).buckets()).toEqual([]);
  });

  it('limits durations that are too long or negative', () => {
    expect(histogramOf([1e15, -5]).figures()).toMatchObject({
      count: 2,
      p50Ms: 0,
      maxMs: LONGEST_MS,
    });
  });

  it('returns its buckets in order, with all recorded values', () => {
    expect(histogramOf([3, 1, 1, 2]).buckets()).toEqual([
      [1, 2],
      [2, 1],
      [3.001, 1],
    ]);
  });
});

/** Returns the text of a histogram with a forged header. */
function forged(change: (plain: Buffer) => void, payload: readonly number[] = []): string {
  const bytes = Buffer.from(histogramOf([1, 2]).figures().histogram, 'base64');
  const plain = Buffer.alloc(40);
  plain.writeUInt32BE(0x1c849313, 0);
  plain.writeUInt32BE(3, 12);
  plain.writeBigUInt64BE(1n, 16);
  plain.writeBigUInt64BE(2n ** 41n, 24);
  plain.writeUInt32BE(payload.length, 4);
  change(plain);
  const packed = deflateSync(Buffer.concat([plain, Buffer.from(payload)]));
  const head = Buffer.from(bytes.subarray(0, 8));
  head.writeUInt32BE(packed.length, 4);
  return Buffer.concat([head, packed]).toString('base64');
}

it('the reader of histograms accepts a forged text that is valid', () => {
  const sound = { histogram: forged((plain) => plain, [2, 0x09, 4]), maxMs: 1 };
  expect(DurationHistogram.of(sound).count).toBe(3);
});

describe('a string that is not a valid histogram', () => {
  it.each([
    ['is empty', ''],
    ['is not base64', '%%%'],
    ['is not compressed', Buffer.alloc(64).toString('base64')],
    ['is cut short', histogramOf([1, 2, 3]).figures().histogram.slice(0, 20)],
    [
      'has another precision',
      encodeIntoCompressedBase64(build({ numberOfSignificantValueDigits: 2 })),
    ],
    ['has another range', encodeIntoCompressedBase64(build({ highestTrackableValue: 4096 }))],
    ['claims five digits', forged((plain) => plain.writeUInt32BE(5, 12))],
    ['claims a range beyond all', forged((plain) => plain.writeBigUInt64BE(2n ** 60n, 24))],
    ['claims more than it has', forged((plain) => plain.writeUInt32BE(0x7fffffff, 4))],
    [
      'has a run of empty buckets without end',
      forged((plain) => plain, [0xff, 0xff, 0xff, 0xff, 0x0f]),
    ],
    ['has a count beyond all', forged((plain) => plain, [0xfe, 0xff, 0xff, 0xff, 0xff, 0x0f])],
    ['breaks off in a number', forged((plain) => plain, [0xff])],
    ['unpacks to very much', bomb()],
  ])('is refused when it %s', (_what, histogram) => {
    expect(() => DurationHistogram.of({ histogram, maxMs: 1 })).toThrow(HistogramError);
  });
});

function bomb(): string {
  const packed = deflateSync(Buffer.alloc(64 * 2 ** 20));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(0x1c849314, 0);
  head.writeUInt32BE(packed.length, 4);
  return Buffer.concat([head, packed]).toString('base64');
}
