import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { FleetOnTestbed, type JournaledRequest } from '../testing/fleet-on-testbed.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const TOKEN_HOURS = 2;
const RUN_HOURS = 18;
const STEP_MS = 60_000;
const ITERATIONS_MAX = 300;
const POLL_MS = 10 * MINUTE_MS;
const RUN_MAX_MS = 60_000;
const noonMs = Date.UTC(2026, 10, 21, 12);

let fleet: FleetOnTestbed;

beforeAll(async () => {
  const clock = new ManualClock(noonMs);
  fleet = await FleetOnTestbed.start({ clock, tokenLifetimeSeconds: TOKEN_HOURS * 3600 });
  await fleet.run({
    behaviours: [
      'steady',
      'slow',
      'clock-skew',
      'never-renews',
      'night-only',
      'hang-while-downloading',
      'hang-for-ever',
      'bricked',
      'polls-in-lockstep',
    ],
    pollIntervalMs: POLL_MS,
    inventoryIntervalMs: 8 * HOUR_MS,
    durationMs: RUN_HOURS * HOUR_MS,
    advanceTime: (isIdle) => advanceInLeaps(clock, isIdle),
  });
}, RUN_MAX_MS);

/**
 * Advances the clock whenever all devices and the server wait, and not while one of them works. A
 * hanging download counts as work although it waits, so the clock advances after some of them anyway.
 */
function advanceInLeaps(clock: ManualClock, isIdle: () => boolean) {
  let handle: NodeJS.Immediate;
  let isLoggedIn = false;
  let idleIterations = 0;
  let iterations = 0;
  const iterate = (): void => {
    // The login hashes a password on another thread, which these iterations cannot wait for.
    isLoggedIn ||= fleet.testbed.journal.list({ operation: 'login' }).length > 0;
    idleIterations = isLoggedIn && isIdle() ? idleIterations + 1 : 0;
    if (isLoggedIn) iterations++;
    if (idleIterations > 2 || iterations > ITERATIONS_MAX) {
      idleIterations = 0;
      iterations = 0;
      clock.advance(STEP_MS);
    }
    handle = setImmediate(iterate);
  };
  handle = setImmediate(iterate);
  return { cancel: () => clearImmediate(handle) };
}

afterAll(() => fleet.testbed.close());

function timesOf(asked: readonly JournaledRequest[]): number[] {
  return asked.map(({ at }) => Date.parse(at));
}

/** Returns the times at which the device received a token. */
function tokenTimes(behaviour: string): number[] {
  const authRequests = fleet.requestsOf(behaviour, 'post-auth-request');
  return timesOf(authRequests.filter(({ status }) => status === 200));
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

function refusedRequests(behaviour: string): JournaledRequest[] {
  return fleet
    .responsesTo(behaviour)
    .filter(({ operation, status }) => operation !== 'post-auth-request' && status === 401);
}

describe('a server during a day and a night', () => {
  it('receives a token renewal from each device before expiry, at different times', () => {
    const [, ...steady] = gaps(tokenTimes('steady'));
    expect(steady.length).toBeGreaterThan(7);
    for (const gap of steady) {
      expect(gap).toBeGreaterThan(0.6 * TOKEN_HOURS * HOUR_MS);
      expect(gap).toBeLessThan(TOKEN_HOURS * HOUR_MS);
    }
    expect(refusedRequests('steady')).toEqual([]);
    const [, , slow] = gaps(tokenTimes('slow'));
    expect(Math.abs((slow ?? 0) - (steady[1] ?? 0))).toBeGreaterThan(MINUTE_MS);
  });

  it('renews the token of a device with an old clock after a 401', async () => {
    const refusals = refusedRequests('clock-skew');
    expect(refusals.length).toBeGreaterThan(6);
    const responses = fleet.responsesTo('clock-skew');
    const first = responses.findIndex(({ at }) => at === refusals[0]?.at);
    expect(responses[first + 1]).toMatchObject({ operation: 'post-auth-request', status: 200 });
    expect((await fleet.recordedStatuses())['clock-skew']).toBe('success');
  });

  it('returns 401 to a device that never renews its token', () => {
    const last = Math.max(...tokenTimes('never-renews'));
    const laterResponses = fleet
      .responsesTo('never-renews')
      .filter(({ at }) => Date.parse(at) > last + (TOKEN_HOURS * HOUR_MS + MINUTE_MS));
    expect(laterResponses.length).toBeGreaterThan(80);
    expect(new Set(laterResponses.map(({ status }) => status))).toEqual(new Set([401]));
    expect(laterResponses.map(({ operation }) => operation)).not.toContain('post-auth-request');
  });

  it('receives later requests of a night-only device only at night', async () => {
    const hours = timesOf(fleet.requestsOf('night-only'))
      .filter((time) => time > noonMs + HOUR_MS)
      .map((time) => new Date(time).getUTCHours());
    expect(hours.length).toBeGreaterThan(20);
    expect([...new Set(hours)].sort((one, other) => one - other)).toEqual(
      expect.arrayContaining([22, 23, 0, 1, 2, 3, 4].sort((one, other) => one - other)),
    );
    // The last request before five o'clock may be answered a little later.
    expect(hours.filter((hour) => hour > 5 && hour < 22)).toEqual([]);
    expect((await fleet.recordedStatuses())['night-only']).toBe('success');
  });

  it('waits without a limit for a hanging download and for silent devices', async () => {
    expect(await fleet.recordedStatuses()).toMatchObject({
      steady: 'success',
      slow: 'success',
      'hang-while-downloading': 'success',
      'hang-for-ever': 'installing',
      bricked: 'rebooting',
    });
    const reports = timesOf(fleet.requestsOf('hang-while-downloading', 'put-deployment-status'));
    expect(gaps(reports)[0]).toBeGreaterThanOrEqual(10 * MINUTE_MS);
    const [last] = timesOf(fleet.requestsOf('bricked')).slice(-1);
    expect(last).toBeLessThan(noonMs + 3 * HOUR_MS);
  });

  it('receives the polls of lockstep devices at round times', () => {
    const late = (behaviour: string): number[] =>
      timesOf(fleet.requestsOf(behaviour, 'post-next-deployment-v2'))
        .slice(5)
        .map((time) => time % POLL_MS);
    expect(Math.max(...late('polls-in-lockstep'))).toBeLessThan(POLL_MS / 2);
    expect(late('polls-in-lockstep').length).toBeGreaterThan(80);
  });
});
