import { describe, expect, it } from 'vitest';
import { isFailing, limitRow, median, type RowFacts, rowOf, spreadOf } from './row.ts';

const rates: RowFacts = {
  title: 'a poll',
  unit: 'responses/s',
  better: 'higher',
  goal: 0.5,
  subject: { name: 'ours', values: [60, 30, 40] },
  baseline: { name: 'bare', values: [100, 100, 100] },
};

describe('a row of a benchmark', () => {
  it('takes each ratio within its round, then the median of the rounds', () => {
    const baseline = { name: 'bare', values: [60, 60, 160] };
    expect(rowOf({ ...rates, baseline })).toMatchObject({
      subject: { name: 'ours', figures: { median: 40, min: 30, max: 60 } },
      ratio: { median: 0.5, min: 0.25, max: 1 },
    });
  });

  it.each([
    [0.4, 'met'],
    [0.41, 'missed'],
  ])('is judged at a ratio of 0.4 and a goal of %d as: %s', (goal, verdict) => {
    expect(rowOf({ ...rates, goal })).toMatchObject({ goal, verdict });
  });

  it('is not judged without a goal', () => {
    const { goal: _, ...rest } = rates;
    expect(rowOf(rest)).toMatchObject({ goal: null, verdict: 'no goal' });
  });

  it('has a better ratio for a lower figure when the figure is a cost', () => {
    const row = rowOf({ ...rates, better: 'lower' });
    expect(row.ratio.median).toBe(2.5);
  });

  it('compares other programs with the same baseline', () => {
    const others = [{ name: 'a framework', values: [20, 20, 30] }];
    expect(rowOf({ ...rates, others }).others).toEqual([
      {
        name: 'a framework',
        figures: { median: 20, min: 20, max: 30 },
        ratio: { median: 0.2, min: 0.2, max: 0.3 },
      },
    ]);
  });

  it('is refused when a round has no baseline figure', () => {
    const baseline = { name: 'bare', values: [100, 100] };
    expect(() => rowOf({ ...rates, baseline })).toThrow('ours or bare was not measured');
  });
});

describe('a benchmark row with a limit', () => {
  const taking = (...values: number[]) =>
    limitRow({ title: 'a run', unit: 's', subject: { name: 'ours', values }, limit: 20 });

  it('is met up to the limit, and missed beyond', () => {
    expect(taking(20)).toMatchObject({ ratio: { median: 1 }, goal: 1, verdict: 'met' });
    expect(taking(25)).toMatchObject({ ratio: { median: 0.8 }, verdict: 'missed' });
  });

  it('has a finite ratio for a figure near zero', () => {
    expect(taking(0).ratio.median).toBe(99);
  });
});

describe('the failure of a benchmark run', () => {
  it.each([
    [0, false],
    [-0.01, false],
    [0.01, true],
  ])(
    'depends on the best round: its doubled ratio misses a goal that is %d higher: %s',
    (above, fails) => {
      const { ratio } = rowOf({ ...rates, goal: 1 });
      expect(isFailing(rowOf({ ...rates, goal: 2 * ratio.max + above }))).toBe(fails);
    },
  );

  it('never comes from a row without a goal', () => {
    const { goal: _, ...rest } = rates;
    expect(isFailing(rowOf({ ...rest, subject: { name: 'ours', values: [0, 0, 0] } }))).toBe(false);
  });
});

describe('the spread of measured figures', () => {
  it('is the median, the minimum and the maximum', () => {
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  });

  it('takes the upper of two middle values', () => {
    expect(median([4, 1, 3, 2])).toBe(3);
    expect(median([])).toBe(0);
  });
});
