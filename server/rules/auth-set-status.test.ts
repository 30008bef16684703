import { describe, expect, it } from 'vitest';
import { authSetStatuses, settableAuthSetStatuses } from '../../fixtures/contract/vocabulary.ts';
import { authSetChanges } from './auth-set-status.ts';

/** Every cell by hand: the current status, then what becomes of each wish. */
const cells = [
  ['pending', 'accepted', 'apply'],
  ['pending', 'rejected', 'apply'],
  ['pending', 'pending', 'nothing'],
  ['accepted', 'accepted', 'nothing'],
  ['accepted', 'rejected', 'apply'],
  ['accepted', 'pending', 'apply'],
  ['rejected', 'accepted', 'apply'],
  ['rejected', 'rejected', 'nothing'],
  ['rejected', 'pending', 'apply'],
  ['preauthorized', 'accepted', 'refuse'],
  ['preauthorized', 'rejected', 'refuse'],
  ['preauthorized', 'pending', 'refuse'],
] as const;

describe('what a user may make of an authentication set', () => {
  it.each(cells)('%s -> %s: %s', (current, wanted, change) => {
    expect(authSetChanges[current][wanted]).toBe(change);
  });

  it('is decided for every status and every wish, once', () => {
    const walked = new Set(cells.map(([current, wanted]) => `${current} ${wanted}`));
    expect(walked.size).toBe(authSetStatuses.length * settableAuthSetStatuses.length);
    expect(Object.keys(authSetChanges).toSorted()).toEqual(authSetStatuses.toSorted());
    for (const row of Object.values(authSetChanges)) {
      expect(Object.keys(row).toSorted()).toEqual(settableAuthSetStatuses.toSorted());
    }
  });
});
