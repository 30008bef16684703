import { describe, expect, it } from 'vitest';
import { allCases } from '../cases/all-cases.ts';
import type { CaseVerdict } from '../result/result.ts';
import { verdictOn } from '../testing/results.ts';
import { allVerdicts } from './run.ts';
import { inStartOrder, runEach, splitByOrder } from './schedule.ts';

const plain = { effect: 'write', needs: ['user'], order: undefined } as const;
const rough = { ...plain, effect: 'disruptive' } as const;
const timed = { ...plain, needs: ['clock-control'] } as const;

describe('the order of cases in groups', () => {
  it('runs a case alone if it affects resources of other cases', () => {
    const groups = splitByOrder([rough, plain], true);
    expect(groups).toEqual({ together: [plain], alone: [rough] });
  });

  it('runs a case alone, after all others, if it may spoil the lists of the target', () => {
    const lastCase = { ...plain, order: 'last' } as const;
    const groups = splitByOrder([lastCase, rough, plain], true);
    expect(groups).toEqual({ together: [plain], alone: [rough, lastCase] });
  });

  it('runs a case alone if it controls a target that others share', () => {
    expect(splitByOrder([timed, plain], false)).toEqual({ together: [plain], alone: [timed] });
    expect(splitByOrder([timed, plain], true)).toEqual({ together: [timed, plain], alone: [] });
  });
});

describe('the start order of cases', () => {
  const long = { id: 'long', order: 'first' } as const;
  const short = { id: 'short', order: undefined };

  it('has the long cases first when there are several jobs', () => {
    expect(inStartOrder([short, long, short], 8)).toEqual([long, short, short]);
  });

  it('is the report order when there is a single job', () => {
    expect(inStartOrder([short, long, short], 1)).toEqual([short, long, short]);
  });
});

describe('a queue of items for several jobs', () => {
  /** Returns the highest number of items in progress at once, and their starting order. */
  async function runAll(jobs: number, count: number) {
    const begun: number[] = [];
    let atHand = 0;
    let atHandMax = 0;
    await runEach(
      Array.from({ length: count }, (_, index) => index),
      jobs,
      async (index) => {
        begun.push(index);
        atHand += 1;
        atHandMax = Math.max(atHandMax, atHand);
        await Promise.resolve();
        atHand -= 1;
      },
    );
    return { begun, atHandMax, atHand };
  }

  it.each([
    [1, 9, 1],
    [3, 9, 3],
    [8, 2, 2],
    [4, 0, 0],
  ])('runs with %i jobs and %i items at most %i at a time', async (jobs, count, max) => {
    const { begun, atHandMax, atHand } = await runAll(jobs, count);
    expect([atHandMax, atHand]).toEqual([max, 0]);
    expect(begun).toEqual(Array.from({ length: count }, (_, index) => index));
  });

  it('rejects with the error of an item', async () => {
    const error = new Error('the engine broke');
    await expect(runEach([1], 2, () => Promise.reject(error))).rejects.toBe(error);
  });
});

describe('the reported verdicts of a run', () => {
  const cases = allCases.slice(0, 3);

  it('are in the order of the cases, not in running order', () => {
    const verdicts = new Map<string, CaseVerdict>(
      cases.toReversed().map(({ id }) => [id, verdictOn(id, { verdict: 'pass' })]),
    );
    expect(allVerdicts(cases, verdicts).map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
  });

  it('are inconclusive for a case that never reported', () => {
    const [, silent] = cases;
    const verdicts = new Map<string, CaseVerdict>(
      cases
        .filter((each) => each !== silent)
        .map(({ id }) => [id, verdictOn(id, { verdict: 'pass' })]),
    );
    const found = allVerdicts(cases, verdicts);
    expect(found.map(({ verdict }) => verdict)).toEqual(['pass', 'inconclusive', 'pass']);
    expect(found[1]).toMatchObject({ id: silent?.id, reason: { code: 'never-reported' } });
  });
});
