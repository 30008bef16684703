import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../fixtures/base/random.ts';
import { figuresOf, sampleResult } from '../testing/sample-result.ts';
import { ComparisonError, compareResults } from './compare.ts';
import { boundedPercentile, rankTest } from './compare-statistics.ts';
import type { FleetResult } from './result.ts';

/** Latencies typical of servers: most are alike, with a long tail. */
function latencies(random: Random, count: number, factor = 1): number[] {
  return Array.from({ length: count }, () => {
    const tail = random.fraction() < 0.02 ? 20 : 1;
    return factor * tail * 10 * Math.exp(random.fraction() + random.fraction() - 1);
  });
}

function runOf(durationsMs: readonly number[], change: Partial<FleetResult> = {}): FleetResult {
  return {
    ...sampleResult,
    updates: { whole: [], statuses: [] },
    latencies: [{ operation: 'post-alerts', ...figuresOf(durationsMs) }],
    ...change,
  };
}

function verdictsOf(before: FleetResult, after: FleetResult): Record<string, string> {
  const { rows } = compareResults(before, after);
  return Object.fromEntries(rows.map(({ measure, verdict }) => [measure, verdict]));
}

describe('the comparison of two runs', () => {
  it('finds no difference between runs that differ only by chance', () => {
    const random = seededRandom('alike');
    const verdicts = Array.from({ length: 40 }, () => {
      const [one, other] = [latencies(random, 1500), latencies(random, 1500)];
      return compareResults(runOf(one), runOf(other)).verdict;
    });
    expect(new Set(verdicts)).toEqual(new Set(['no difference']));
  });

  it('finds a shift by a quarter, in both directions', () => {
    const random = seededRandom('shifted');
    for (let round = 0; round < 8; round++) {
      const before = runOf(latencies(random, 3000));
      const after = runOf(latencies(random, 3000, 1.25));
      expect(verdictsOf(before, after)).toMatchObject({
        p50: 'regression',
        p90: 'regression',
        ranks: 'regression',
      });
      expect(compareResults(before, after).verdict).toBe('regression');
      expect(compareResults(after, before).verdict).toBe('improvement');
    }
  });

  it('finds a tail that grew while the median stayed', () => {
    const random = seededRandom('tail');
    const before = latencies(random, 5000);
    const after = before.map((ms, index) => (index % 25 === 0 ? ms * 50 : ms));
    expect(verdictsOf(runOf(before), runOf(after))).toMatchObject({
      p50: 'no difference',
      p99: 'regression',
      ranks: 'no difference',
    });
  });

  it('ignores a shift below the noise floor, however certain it is', () => {
    const random = seededRandom('noise');
    const before = latencies(random, 20_000);
    const after = before.map((ms) => ms * 1.05);
    expect(compareResults(runOf(before), runOf(after)).verdict).toBe('no difference');
    const strict = { share: 0.01, milliseconds: 0.1 };
    expect(compareResults(runOf(before), runOf(after), strict).verdict).toBe('regression');
  });

  it('does not judge a percentile with too few values beyond it', () => {
    const random = seededRandom('few');
    const few = verdictsOf(runOf(latencies(random, 200)), runOf(latencies(random, 200, 3)));
    expect(few).toMatchObject({ p50: 'regression', p99: 'not enough data' });
    const { verdict, rows } = compareResults(runOf([1, 2, 3]), runOf([9, 9, 9]));
    expect(verdict).toBe('not enough data');
    expect(rows[0]?.reason).toBe('only 3 in one of the runs');
  });

  it('finds more errors, and fewer errors', () => {
    const [operation] = sampleResult.operations;
    const answering = (errors: number) =>
      runOf([], {
        latencies: [],
        operations: operation
          ? [{ ...operation, unanswered: 0, responses: { '2xx': 2000 - errors, '5xx': errors } }]
          : [],
      });
    expect(compareResults(answering(1), answering(40)).verdict).toBe('regression');
    expect(compareResults(answering(40), answering(1)).verdict).toBe('improvement');
    expect(compareResults(answering(20), answering(22)).verdict).toBe('no difference');
  });

  it('finds updates that fail more often', () => {
    const ended = (failed: number) => {
      const deviceCounts = { ...sampleResult.deviceCounts, done: 1000 - failed, failed };
      return runOf([], { latencies: [], operations: [], deviceCounts });
    };
    expect(compareResults(ended(5), ended(60)).verdict).toBe('regression');
    expect(compareResults(ended(60), ended(5)).verdict).toBe('improvement');
  });

  it('decides nothing when the generator was at its limit, and says so', () => {
    const random = seededRandom('invalid');
    const generator = { ...sampleResult.generator, reasons: ['its event loop was held up'] };
    const invalid = { validity: 'invalid' as const, generator };
    const secondRun = runOf(latencies(random, 3000, 2), invalid);
    const { verdict, notes } = compareResults(runOf(latencies(random, 3000)), secondRun);
    expect(verdict).toBe('not enough data');
    expect(notes).toEqual(['the second run is invalid: its event loop was held up']);
  });

  it('notes in which members the plans differ', () => {
    const otherRun = runOf([1], {
      plan: { ...sampleResult.plan, devices: 7, deploy: 'release-2' },
    });
    const { plans, notes } = compareResults(runOf([1]), otherRun);
    expect(plans).toBe('different');
    expect(notes).toEqual([
      'the plans differ: devices is 3 in one and 7 in the other',
      'the plans differ: deploy is absent in one and "release-2" in the other',
    ]);
    expect(compareResults(runOf([1]), runOf([2]))).toMatchObject({ plans: 'same', notes: [] });
  });

  it('refuses a damaged result with one sentence', () => {
    const damaged = runOf([1]);
    const broken = damaged.latencies.map((row) => ({ ...row, histogram: 'AAAA' }));
    const compare = () => compareResults(damaged, { ...damaged, latencies: broken });
    expect(compare).toThrow(ComparisonError);
    expect(compare).toThrow('a result is damaged');
  });
});

const sample = fc
  .array(fc.tuple(fc.nat(50), fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 20 })
  .map((rows) => [...new Map(rows)].sort(([one], [other]) => one - other));

describe('the statistics of a comparison', () => {
  it('count every pair of values once', () => {
    fc.assert(
      fc.property(sample, sample, (first, second) => {
        let wins = 0;
        for (const [one, ours] of first) {
          for (const [other, theirs] of second) {
            wins += ours * theirs * (other > one ? 1 : other === one ? 0.5 : 0);
          }
        }
        const total = (rows: typeof first) => rows.reduce((sum, [, count]) => sum + count, 0);
        const { superiority, z } = rankTest(first, second);
        expect(superiority).toBeCloseTo(wins / (total(first) * total(second)), 9);
        expect(rankTest(second, first).z).toBeCloseTo(-z, 9);
      }),
      { seed: 8 },
    );
  });

  it('return a percentile between its lower and upper bound', () => {
    fc.assert(
      fc.property(sample, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (rows, share) => {
        const { low, value, high } = boundedPercentile(rows, share, 3);
        expect(low).toBeLessThanOrEqual(value);
        expect(value).toBeLessThanOrEqual(high);
      }),
      { seed: 9 },
    );
  });
});
