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

  it('is finished once it has an end, whatever its device deployments are', () => {
    expect(statusOf({ finishedMs: 0 }, new Map([['pending', 9]]))).toBe('finished');
  });
});

/**
 * Each cell is whether devices or retries remain, devices that finished, the limit, and the result.
 */
const cells = [
  [false, false, 0, undefined, 'ended'],
  [false, false, 0, 2, 'ended'],
  [false, false, 1, 2, 'ended'],
  [true, false, 0, undefined, 'open'],
  [false, true, 0, undefined, 'open'],
  [true, true, 0, undefined, 'open'],
  [true, false, 1, 2, 'open'],
  [false, true, 1, 2, 'open'],
  [true, false, 2, 2, 'ended'],
  [false, true, 2, 2, 'ended'],
  [true, true, 3, 2, 'ended'],
] as const;

describe.each(cells)(
  'a deployment with unfinished devices %s, retries %s, %s of at most %s devices done',
  (hasActive, hasRetries, finishedDevices, maxDevices, expected) => {
    const facts = { hasActive, hasRetries, finishedDevices, maxDevices };

    it(`is ${expected}`, () => {
      expect(finishTimeMs(facts, 90)).toBe(expected === 'ended' ? 90 : undefined);
    });

    it(`is ${expected} after an end, whose time stays`, () => {
      const before = { ...facts, finishedMs: 50 };
      expect(finishTimeMs(before, 90)).toBe(expected === 'ended' ? 50 : undefined);
    });
  },
);

const without = 'created without';
const ended = 'finished';

describe.each([
  ['running, without a map', {}, undefined, without],
  ['running, with a map', { controlMap: {} }, undefined, undefined],
  ['finished, without a map', { finishedMs: 0 }, ended, without],
  ['finished, with a map', { finishedMs: 0, controlMap: {} }, ended, ended],
])('a deployment that is %s', (_, deployment, abort, map) => {
  it(`refuses to be aborted: ${abort}`, () => {
    expect(abortRefusalReason(deployment)).toEqual(abort && expect.stringContaining(abort));
  });

  it(`refuses another map: ${map}`, () => {
    expect(controlMapRefusalReason(deployment)).toEqual(map && expect.stringContaining(map));
  });
});
