import { describe, expect, it } from 'vitest';
import { ManualClock, runInNextIteration } from '../../fixtures/base/clock.ts';
import { ObservedClock } from '../testing/looked-at-clock.ts';
import { Turns } from './turns.ts';

function nextIteration(): Promise<void> {
  return new Promise((resolve) => runInNextIteration(resolve));
}

function watched(turns: Turns) {
  const events: string[] = [];
  const release = turns.onOverload(() => {
    events.push('stopped');
    return () => events.push('goes on');
  });
  return { events, release };
}

function crowd(turns: Turns): void {
  for (let request = 0; request < 100; request += 1) turns.start('', () => undefined);
}

describe('the turns of many requests', () => {
  it('pause reading for the rest of the event-loop iteration', async () => {
    const turns = new Turns(new ObservedClock(0));
    const { events, release } = watched(turns);
    crowd(turns);
    expect(events).toEqual(['stopped']);
    await nextIteration();
    expect(events).toEqual(['stopped', 'goes on']);
    release();
    crowd(turns);
    await nextIteration();
    expect(events).toHaveLength(2);
  });

  it('do not pause reading while the iteration has time left', async () => {
    const turns = new Turns(new ManualClock(0));
    const { events } = watched(turns);
    crowd(turns);
    await nextIteration();
    expect(events).toEqual([]);
  });
});
