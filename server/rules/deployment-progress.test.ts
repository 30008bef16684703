import { describe, expect, it } from 'vitest';
import { deviceDeploymentStatuses } from '../../fixtures/contract/vocabulary.ts';
import {
  abortRefusalReason,
  controlMapRefusalReason,
  finishTimeMs,
  statusOf,
} from './deployment-progress.ts';

describe('the state of a whole deployment', () => {
  const touched = deviceDeploymentStatuses.filter((status) => status !== 'pending');

  it.each(touched)('is in progress if one device deployment is %s', (status) => {
    expect(
      statusOf(
        {},
        new Map([
          ['pending', 9],
          [status, 1],
        ]),
      ),
    ).toBe('inprogress');
  });

  it('is pending while all device deployments are, ignoring counts of zero', () => {
    expect(statusOf({}, new Map([['pending', 9]]))).toBe('pending');
    expect(
      statusOf(
        {},
        new Map([
          ['pending', 9],
          ['success', 0],
        ]),
      ),
    ).toBe('pending');
    expect(statusOf({}, new Map())).toBe('pending');
  });

  it('is finished once it has a finish time, whatever its device deployments are', () => {
    expect(statusOf({ finishedMs: 0 }, new Map([['pending', 9]]))).toBe('finished');
  });
});

/**
 * Each cell: whether a status is not final, whether retries are left, devices that finished, the limit, and the
 * result.
 */
const cells = [
  [false, false, 0, undefined, 'finished'],
  [false, false, 0, 2, 'finished'],
  [false, false, 1, 2, 'finished'],
  [true, false, 0, undefined, 'unfinished'],
  [false, true, 0, undefined, 'unfinished'],
  [true, true, 0, undefined, 'unfinished'],
  [true, false, 1, 2, 'unfinished'],
  [false, true, 1, 2, 'unfinished'],
  [true, false, 2, 2, 'finished'],
  [false, true, 2, 2, 'finished'],
  [true, true, 3, 2, 'finished'],
] as const;

describe.each(cells)(
  'a deployment with statuses that are not final: %s, retries left: %s, %s of at most %s devices finished',
  (hasNonFinal, hasRetries, finishedDevices, maxDevices, expected) => {
    const facts = { hasNonFinal, hasRetries, finishedDevices, maxDevices };

    it(`is ${expected}`, () => {
      expect(finishTimeMs(facts, 90)).toBe(expected === 'finished' ? 90 : undefined);
    });

    it(`is ${expected} if it was finished before, and keeps that time`, () => {
      const finishedFacts = { ...facts, finishedMs: 50 };
      expect(finishTimeMs(finishedFacts, 90)).toBe(expected === 'finished' ? 50 : undefined);
    });
  },
);

const without = 'created without';
const finished = 'finished';

describe.each([
  ['unfinished, without a map', {}, undefined, without],
  ['unfinished, with a map', { controlMap: {} }, undefined, undefined],
  ['finished, without a map', { finishedMs: 0 }, finished, without],
  ['finished, with a map', { finishedMs: 0, controlMap: {} }, finished, finished],
])('a deployment that is %s', (_, deployment, abort, map) => {
  it(`refuses to be aborted: ${abort}`, () => {
    expect(abortRefusalReason(deployment)).toEqual(abort && expect.stringContaining(abort));
  });

  it(`refuses another map: ${map}`, () => {
    expect(controlMapRefusalReason(deployment)).toEqual(map && expect.stringContaining(map));
  });
});
