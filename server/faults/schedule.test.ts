import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Times } from './rule.ts';
import { FaultSchedule } from './schedule.ts';

const act = { kind: 'reset' };

function scheduleOf(times?: Times, callerKey = '', nthCall?: number): FaultSchedule {
  const match = nthCall === undefined ? {} : { nthCall };
  return new FaultSchedule(
    { id: 'r', act, match, ...(times !== undefined && { times }) },
    callerKey,
  );
}

/** Returns the numbers of those calls, out of this many, that fire. */
function fires(schedule: FaultSchedule, calls: number): boolean[] {
  return Array.from({ length: calls }, () => {
    const turn = schedule.call();
    if (turn) schedule.take();
    return turn !== undefined;
  });
}

/** Returns the length of the longest run of consecutive calls that fire. */
function longestRow(fired: readonly boolean[]): number {
  const rows = fired
    .map((one) => (one ? 'x' : '-'))
    .join('')
    .split('-');
  return Math.max(...rows.map(({ length }) => length));
}

describe('the schedule of a fault rule', () => {
  it.each<[string, Times | undefined, boolean[]]>([
    ['once by default', undefined, [true, false, false, false]],
    ['once', 'once', [true, false, false, false]],
    ['the next three', { next: 3 }, [true, true, true, false]],
    ['until cleared', 'until-cleared', [true, true, true, true]],
    [
      'never with a share of 0',
      { share: 0, seed: 's', neverMoreThanInARow: 9 },
      [false, false, false, false],
    ],
    [
      'at each call except after two in a row',
      { share: 1, seed: 's', neverMoreThanInARow: 2 },
      [true, true, false, true],
    ],
  ])('fires %s', (_, times, expected) => {
    expect(fires(scheduleOf(times), 4)).toEqual(expected);
  });

  it('starts at the n-th call', () => {
    expect(fires(scheduleOf('once', '', 3), 5)).toEqual([false, false, true, false, false]);
    expect(fires(scheduleOf({ next: 2 }, '', 2), 4)).toEqual([false, true, true, false]);
  });

  it('keeps a turn that the caller did not use', () => {
    const schedule = scheduleOf();
    expect([schedule.call() !== undefined, schedule.call() !== undefined]).toEqual([true, true]);
    schedule.take();
    expect([schedule.call(), schedule.left]).toEqual([undefined, 0]);
    schedule.giveBack();
    expect([schedule.call() !== undefined, schedule.left]).toEqual([true, 1]);
  });

  it('runs through a script in order and reports the remaining steps', () => {
    const script = ['pass' as const, act, 'pass' as const, { kind: 'stall' }];
    const schedule = new FaultSchedule({ id: 'r', match: {}, script }, '');
    const seen = [];
    for (let call = 0; call < 6; call += 1) {
      const turn = schedule.call();
      if (turn) schedule.take();
      seen.push([turn?.action.kind, turn?.step, schedule.left]);
    }
    expect(seen).toEqual([
      [undefined, undefined, 2],
      ['reset', 1, 1],
      [undefined, undefined, 1],
      ['stall', 3, 0],
      [undefined, undefined, 0],
      [undefined, undefined, 0],
    ]);
  });
});

describe('a random share of calls with a seed', () => {
  const shares = fc.record({
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    seed: fc.string(),
    neverMoreThanInARow: fc.integer({ min: 1, max: 5 }),
  });

  it('never fires more often in a row than its limit allows', () => {
    fc.assert(
      fc.property(shares, fc.string(), (times, callerKey) => {
        const row = longestRow(fires(scheduleOf(times, callerKey), 200));
        expect(row).toBeLessThanOrEqual(times.neverMoreThanInARow);
      }),
    );
  });

  it('makes the same choices with the same seed', () => {
    fc.assert(
      fc.property(shares, fc.string(), (times, callerKey) => {
        const once = fires(scheduleOf(times, callerKey), 50);
        expect(fires(scheduleOf(times, callerKey), 50)).toEqual(once);
      }),
    );
  });

  it('makes other choices with another seed or another caller', () => {
    const times = { share: 0.5, seed: 'a', neverMoreThanInARow: 50 };
    const first = fires(scheduleOf(times, 'p'), 64);
    expect(fires(scheduleOf({ ...times, seed: 'b' }, 'p'), 64)).not.toEqual(first);
    expect(fires(scheduleOf(times, 'q'), 64)).not.toEqual(first);
  });

  it('matches the configured share approximately', () => {
    const times = { share: 0.3, seed: 'a', neverMoreThanInARow: 100 };
    const hits = fires(scheduleOf(times), 10_000).filter(Boolean).length;
    expect(hits).toBeGreaterThan(2800);
    expect(hits).toBeLessThan(3200);
  });
});
