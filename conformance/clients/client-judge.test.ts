import { describe, expect, it } from 'vitest';
import { ClientJudge } from './client-judge.ts';
import { alterations } from './testing/alterations.ts';
import { eventsOf, goodSteps, type Step } from './testing/good-life.ts';

function judged(steps: readonly Step[]) {
  const judge = new ClientJudge();
  for (const event of eventsOf(steps)) judge.see(event);
  return judge.verdict('device-1')?.duties ?? [];
}

function brokenIn(steps: readonly Step[]) {
  const broken = judged(steps).filter(({ state }) => state === 'broken');
  return broken.map(({ duty, violations }) => `${duty}: ${violations[0]?.seen}`);
}

describe('the judge of a good client', () => {
  it('finds no duty broken in the life of a good client', () => {
    expect(brokenIn(goodSteps())).toEqual([]);
  });
});

describe('the judge of a bad client', () => {
  it.each(alterations)(
    'names $duty for a client that $does',
    ({ duty, alter, consequences = [] }) => {
      const broken = brokenIn(alter(goodSteps()));
      expect(broken.map((each) => each.split(':')[0]).toSorted(), broken.join('; ')).toEqual(
        [duty, ...consequences].toSorted(),
      );
    },
  );
});
