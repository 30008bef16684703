import { describe, expect, it } from 'vitest';
import { authSetStatuses, settableAuthSetStatuses } from '../../fixtures/contract/vocabulary.ts';
import {
  authSetChanges,
  deviceStatusOf,
  statusOfOtherSet,
  tokensValidFromAfter,
  tokensValidFromRevocation,
} from './auth-set-status.ts';

/** Every cell is written by hand: the current status, the requested status, and the effect. */
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

describe('the change of an authentication set by a user', () => {
  it.each(cells)('is decided from %s to %s as: %s', (current, wanted, change) => {
    expect(authSetChanges[current][wanted]).toBe(change);
  });

  it('is defined once for every current and every requested status', () => {
    const walked = new Set(cells.map(([current, wanted]) => `${current} ${wanted}`));
    expect(walked.size).toBe(authSetStatuses.length * settableAuthSetStatuses.length);
    expect(Object.keys(authSetChanges).toSorted()).toEqual(authSetStatuses.toSorted());
    for (const row of Object.values(authSetChanges)) {
      expect(Object.keys(row).toSorted()).toEqual(settableAuthSetStatuses.toSorted());
    }
  });
});

describe('another authentication set of the device', () => {
  it('becomes rejected only if it was accepted and one is accepted', () => {
    for (const current of authSetStatuses) {
      for (const changed of authSetStatuses) {
        const isReplaced = current === 'accepted' && changed === 'accepted';
        expect(statusOfOtherSet(current, changed)).toBe(isReplaced ? 'rejected' : current);
      }
    }
  });
});

describe('the tokens of an authentication set', () => {
  it.each([
    ['accepted', 'accepted', 0],
    ['accepted', 'rejected', 51],
    ['accepted', 'pending', 51],
    ['accepted', 'preauthorized', 51],
    ['rejected', 'accepted', 0],
    ['pending', 'accepted', 0],
    ['pending', 'rejected', 0],
    ['preauthorized', 'accepted', 0],
  ] as const)(
    'are after a change from %s to %s at second 50 valid from %s',
    (status, next, from) => {
      expect(tokensValidFromAfter({ status, tokensValidFromSeconds: 0 }, next, 50)).toBe(from);
    },
  );

  it.each([
    [0, 50, 51],
    [50, 50, 51],
    [51, 50, 52],
    [99, 50, 100],
  ])(
    'are, if valid from %s and revoked at %s, valid from %s',
    (formerSeconds, revokedSeconds, from) => {
      expect(
        tokensValidFromRevocation({ tokensValidFromSeconds: formerSeconds }, revokedSeconds),
      ).toBe(from);
    },
  );
});

describe('the status of a device', () => {
  it.each([
    [[], 'noauth'],
    [['rejected'], 'rejected'],
    [['rejected', 'pending'], 'pending'],
    [['pending', 'preauthorized', 'rejected'], 'preauthorized'],
    [['preauthorized', 'pending', 'accepted'], 'accepted'],
    [['rejected', 'accepted'], 'accepted'],
  ] as const)('follows from the set statuses %j: %s', (statuses, expected) => {
    expect(deviceStatusOf(statuses)).toBe(expected);
  });
});
