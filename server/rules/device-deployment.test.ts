import { describe, expect, it } from 'vitest';
import {
  type DeviceDeploymentStatus,
  deviceDeploymentStatuses,
  reportableStatuses,
} from '../../fixtures/contract/vocabulary.ts';
import {
  applyOffer,
  applyReport,
  applyRetry,
  applyStop,
  type DeviceDeployment,
  historyDeletion,
  initialState,
  isFinal,
  mayTryAgain,
  statusGroups,
  withStatus,
} from './device-deployment.ts';

/**
 * Every status is written by hand: whether it is final, and the response to any of nine reports.
 */
const cells = [
  ['pending', 'non-final', 'accept'],
  ['installing', 'non-final', 'accept'],
  ['pause_before_installing', 'non-final', 'accept'],
  ['downloading', 'non-final', 'accept'],
  ['pause_before_rebooting', 'non-final', 'accept'],
  ['rebooting', 'non-final', 'accept'],
  ['pause_before_committing', 'non-final', 'accept'],
  ['success', 'final', 'accept'],
  ['failure', 'final', 'accept'],
  ['already-installed', 'final', 'accept'],
  ['noartifact', 'final', 'accept'],
  ['aborted', 'final', 'refuse'],
  ['decommissioned', 'final', 'refuse'],
] as const;

const statuses = cells.map(([status]) => status);
const finals = cells.filter(([, standing]) => standing === 'final').map(([status]) => status);
const nonFinals = cells
  .filter(([, standing]) => standing === 'non-final')
  .map(([status]) => status);

/** Returns a device deployment in its second attempt, with every optional field set. */
function started(status: DeviceDeploymentStatus, retriesLeft = 1): DeviceDeployment {
  return {
    status,
    substate: 'step',
    pollData: 'r',
    artifactId: 'art',
    attempts: 2,
    retriesLeft,
    offeredMs: 20,
    startedMs: 30,
    ...(finals.some((end) => end === status) && { finishedMs: 40 }),
  };
}

it('the table of cells has a row for every device deployment status', () => {
  expect(statuses.toSorted()).toEqual(deviceDeploymentStatuses.toSorted());
});

it('the status groups name the statuses that are not final, the final and the pause ones', () => {
  const pause = ['pause_before_installing', 'pause_before_rebooting', 'pause_before_committing'];
  expect(statusGroups).toEqual({ active: nonFinals, finished: finals, pause });
});

describe('a device deployment status', () => {
  it.each(cells)('is %s and counts as %s', (status, standing) => {
    expect(isFinal({ status }) ? 'final' : 'non-final').toBe(standing);
  });

  it.each(statuses)(
    'is %s and permits another attempt only after failure with retries left',
    (status) => {
      expect(mayTryAgain({ status, retriesLeft: 1 })).toBe(status === 'failure');
      expect(mayTryAgain({ status, retriesLeft: 0 })).toBe(false);
    },
  );
});

describe("a device's status report", () => {
  const pairs = cells.flatMap(([from, , decision]) =>
    reportableStatuses.map((to) => [from, to, decision] as const),
  );

  it.each(pairs)('is decided for a change from %s to %s: %s', (from, to, decision) => {
    const changed = applyReport(started(from), { status: to }, 90);
    if (decision === 'refuse') {
      expect(changed).toEqual({ reason: expect.stringContaining(from) });
      return;
    }
    const finishedMs = finals.some((end) => end === to) ? 90 : undefined;
    expect(changed).toEqual({ ...started(from), status: to, finishedMs });
  });

  it('marks the start of the attempt when it is the first', () => {
    const fresh = applyOffer(initialState(0), { pollData: 'r', nowMs: 20 });
    expect(applyReport(fresh, { status: 'downloading' }, 30)).toMatchObject({ startedMs: 30 });
  });

  it.each([
    ['step 2', 'step 2'],
    ['', 'step'],
    [undefined, 'step'],
  ])('changes the substate "step" by %j to %j', (substate, expected) => {
    const changed = applyReport(started('installing'), { status: 'rebooting', substate }, 90);
    expect(changed).toMatchObject({ substate: expected });
  });
});

describe('an offer to a device', () => {
  const offer = { pollData: 'r', artifactId: 'art', nowMs: 20 };

  it('counts as the first attempt, and its time never changes', () => {
    const first = applyOffer(initialState(3), offer);
    expect(first).toEqual({ ...initialState(3), attempts: 1, offeredMs: 20, ...pollFields(offer) });
    const secondOffer = { pollData: 'r2', nowMs: 99 };
    expect(applyOffer(first, secondOffer)).toEqual({
      ...initialState(3),
      attempts: 1,
      offeredMs: 20,
      pollData: 'r2',
    });
  });

  it.each(statuses)('does not change the status %s', (status) => {
    expect(applyOffer(started(status), offer)).toEqual(started(status));
  });

  function pollFields({ pollData, artifactId }: typeof offer) {
    return { pollData, artifactId };
  }
});

describe('a retry of a device deployment', () => {
  it("resets and counts the attempt, but keeps the first offer's time", () => {
    expect(applyRetry(started('failure', 2))).toEqual({
      status: 'pending',
      attempts: 3,
      retriesLeft: 1,
      offeredMs: 20,
    });
  });
});

describe('a status that the server sets', () => {
  it.each(statuses)('has a finish time exactly if it is final: %s', (status) => {
    const finishedMs = finals.some((end) => end === status) ? 90 : undefined;
    expect(withStatus(started('pending'), status, 90)).toEqual({
      ...started('pending'),
      status,
      finishedMs,
    });
  });
});

describe.each(['aborted', 'decommissioned'] as const)(
  'stopping a device deployment as %s',
  (end) => {
    it.each(nonFinals)('replaces the status %s', (status) => {
      const expected = { ...started(status), status: end, finishedMs: 90, retriesLeft: 0 };
      expect(applyStop(started(status), end, 90)).toEqual(expected);
    });

    it.each(finals)('keeps the final status %s and removes its retries', (status) => {
      expect(applyStop(started(status), end, 90)).toEqual({ ...started(status), retriesLeft: 0 });
    });
  },
);

describe('the deletion of a deployment history', () => {
  it.each(cells)('treats the status %s as %s', (status, standing) => {
    const running = historyDeletion(started(status), {});
    const finished = historyDeletion(started(status), { finishedMs: 50 });
    const expected = standing === 'non-final' ? ['keep', 'keep'] : ['restart', 'remove'];
    expect([running, finished]).toEqual(expected);
  });
});
