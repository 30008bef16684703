import { describe, expect, it } from 'vitest';
import { authSetStatuses } from '../../fixtures/contract/vocabulary.ts';
import { authOutcomes } from './authentication.ts';

/** Every situation by hand: what is done, and whether a token is granted. */
const cells = [
  ['unknown-device', 'record', undefined],
  ['unknown-key', 'record', undefined],
  ['too-many-keys', undefined, undefined],
  ['limit-reached', undefined, undefined],
  ['pending', undefined, undefined],
  ['rejected', undefined, undefined],
  ['accepted', undefined, true],
  ['preauthorized', 'accept', true],
] as const;

describe('what becomes of a well signed request', () => {
  it.each(cells)('%s: effect %s, granted %s', (situation, effect, granted) => {
    const outcome = authOutcomes[situation];
    expect([outcome.effect, outcome.granted]).toEqual([effect, granted]);
  });

  it('is decided for every status of a set, and for what is not known yet', () => {
    const unsettled = ['unknown-device', 'unknown-key', 'too-many-keys', 'limit-reached'];
    const situations = [...unsettled, ...authSetStatuses];
    expect(Object.keys(authOutcomes).toSorted()).toEqual(situations.toSorted());
    expect(cells.map(([situation]) => situation).toSorted()).toEqual(situations.toSorted());
  });

  it('has a reason of its own each time', () => {
    const reasons = Object.values(authOutcomes).map(({ because }) => because);
    expect(new Set(reasons).size).toBe(reasons.length);
  });
});
