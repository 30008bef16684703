import { describe, expect, it } from 'vitest';
import { knownBehaviours } from '../../simulator/behaviours/catalogue.ts';
import type { FleetEvent, FleetPlan } from '../../simulator/engine/simulate-fleet.ts';
import { planOf } from '../../simulator/plan/plan.ts';
import { type VirtualRun, virtualRun } from '../dev/bench/virtual-fleet.ts';

const RUN_MAX_MS = 20_000;
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

const start = { devices: 12, seed: 'load', rampMs: 0, pollIntervalMs: 10 * SECOND_MS } as const;

/** Returns the times of the selected events, in milliseconds since the start of the run. */
function moments(run: VirtualRun, isWanted: (event: FleetEvent) => boolean): number[] {
  const startedMs = Date.parse(run.result.startedAt);
  return run.events.filter(isWanted).map(({ atMs }) => atMs - startedMs);
}

function isOfOperation(part: string) {
  return (event: FleetEvent): boolean =>
    event.kind === 'exchange' && event.device !== undefined && event.operation.includes(part);
}

const ofDevices = isOfOperation('');
const polls = isOfOperation('next-deployment');
const authRequests = isOfOperation('auth-request');

function countBetween(values: readonly number[], fromMs: number, toMs: number): number {
  return values.filter((value) => value >= fromMs && value < toMs).length;
}

function runFleet(change: Partial<FleetPlan>): Promise<VirtualRun> {
  return virtualRun({ ...start, durationMs: 2 * MINUTE_MS, ...change });
}

describe('stages of a fleet', () => {
  it('switch devices on and off, appear as stages of the metrics, and end the run', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const run = await runFleet({
      devices: 20,
      stages: [
        { kind: 'ramp', durationMs: MINUTE_MS, devices: 10 },
        { kind: 'hold', durationMs: MINUTE_MS },
        { kind: 'burst', durationMs: MINUTE_MS, devices: 20 },
        { kind: 'drain', durationMs: MINUTE_MS },
      ],
      durationMs: 10 * MINUTE_MS,
    });
    expect(run.result.ended).toBe('stages');
    expect(run.result.durationMs).toBe(4 * MINUTE_MS);
    const stages = run.result.stages.map(({ name }) => name);
    expect(stages).toEqual(expect.arrayContaining(['1 ramp', '2 hold', '3 burst', '4 drain']));
    const polled = moments(run, polls);
    const perMinute = [0, 1, 2, 3].map((minute) =>
      countBetween(polled, minute * MINUTE_MS, (minute + 1) * MINUTE_MS),
    );
    const [ramp = 0, hold = 0, burst = 0, drain = 0] = perMinute;
    expect(hold).toBeGreaterThan(ramp);
    expect(burst).toBeGreaterThan(hold * 1.5);
    expect(drain).toBeLessThan(hold);
  });
});

describe('a plan with a number of polls', () => {
  it('ends once each device has polled that often, not counting refused authentication requests', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const run = await runFleet({ devices: 4, iterations: 3 });
    expect(run.result.ended).toBe('iterations');
    const counts = run.result.devices.map(({ index }) => {
      const own = run.events.filter((event) => event.device === index);
      return own.filter(polls).length;
    });
    expect(counts).toEqual([3, 3, 3, 3]);
  });
});

function isRefused(event: FleetEvent): boolean {
  return event.kind === 'exchange' && event.status === 401;
}

describe('the drain period after a run', () => {
  // Long enough for the devices to be accepted and offered the deployment, too short to install it.
  const short = { devices: 4, pollIntervalMs: 1000, durationMs: 2600 } as const;

  it('finishes the deployments in progress', { timeout: RUN_MAX_MS }, async () => {
    const { result } = await runFleet({ ...short, drainMs: MINUTE_MS });
    expect(result.ended).toBe('duration');
    expect(result.funnel.offered).toBeGreaterThan(0);
    expect(result.funnel.updating).toBe(0);
    expect(result.reconciliation.ok).toBe(true);
  });
});

describe('arrivals of requests', () => {
  it('come at their own rate, in addition to the polls of the devices', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const run = await runFleet({
      devices: 3,
      arrivals: [
        { event: 'alerts', perSecond: 2 },
        { event: 'first-contacts', perSecond: 1 },
      ],
      durationMs: MINUTE_MS,
    });
    const figures = new Map(run.result.operations.map((row) => [row.operation, row]));
    // Two alerts a second for a minute, in addition to two alerts of each device.
    const alerts = figures.get('post-alerts')?.responses['2xx'] ?? 0;
    expect(Math.abs(alerts - 120)).toBeLessThan(40);
    const refused = figures.get('post-auth-request')?.responses['4xx'] ?? 0;
    expect(Math.abs(refused - 60)).toBeLessThan(30);
  });
});

describe('arrivals of logs', () => {
  it('come at their own rate, for deployments of the devices', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const logs = [{ event: 'logs', perSecond: 2 } as const];
    const run = await runFleet({ devices: 3, arrivals: logs, durationMs: MINUTE_MS });
    const uploads = run.events.filter(
      (event) => event.kind === 'exchange' && event.operation === 'put-deployment-log',
    );
    // No update fails, so no device uploads a log because of its update.
    expect(Math.abs(uploads.length - 110)).toBeLessThan(40);
    expect(new Set(uploads.map((event) => event.kind === 'exchange' && event.status))).toEqual(
      new Set([204]),
    );
    const devices = new Set(uploads.map(({ device }) => device));
    expect(devices.size).toBe(3);
    const gaps = gapsOf(moments(run, isOfOperation('put-deployment-log')));
    // The uploads come at random intervals: neither all at once nor evenly spaced.
    expect(Math.max(...gaps)).toBeGreaterThan(1000);
    expect(gaps.filter((gap) => gap < 250).length).toBeGreaterThan(10);
  });

  it('send nothing when there never was a deployment', { timeout: RUN_MAX_MS }, async () => {
    const arrivals = [{ event: 'logs', perSecond: 2 } as const];
    const night = { name: 'update-night', atMs: 10 * MINUTE_MS } as const;
    const run = await runFleet({ devices: 3, arrivals, incidents: [night], durationMs: MINUTE_MS });
    expect(moments(run, isOfOperation('put-deployment-log'))).toEqual([]);
    expect(run.result.errors.map(({ cause }) => cause)).toEqual(['arrivals/no-device-can']);
  });
});

function gapsOf(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

describe('a reconnect storm', () => {
  const storm = { name: 'reconnect-storm', atMs: MINUTE_MS } as const;
  const connected = { connect: true, backOff: { minMs: 1000, maxMs: 4000 } } as const;

  const lost = (event: FleetEvent): boolean =>
    event.kind === 'socket-closed' && event.cause === 'cut';
  const isSocketOpening = (event: FleetEvent): boolean => event.kind === 'socket-opened';

  function laterOpenings(run: VirtualRun): FleetEvent[] {
    const startedMs = Date.parse(run.result.startedAt);
    return run.events.filter(
      (event) => isSocketOpening(event) && event.atMs >= startedMs + MINUTE_MS,
    );
  }

  it('closes all sockets at once, and all reconnect at random within the window', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const run = await runFleet({ ...connected, incidents: [{ ...storm, withinMs: 10_000 }] });
    const losses = moments(run, lost);
    expect(losses).toHaveLength(12);
    expect(Math.max(...losses) - Math.min(...losses)).toBeLessThan(200);
    expect(new Set(laterOpenings(run).map(({ device }) => device)).size).toBe(12);
    const returns = moments(run, isSocketOpening).filter((atMs) => atMs >= MINUTE_MS);
    expect(returns).toHaveLength(12);
    expect(Math.max(...returns)).toBeLessThan(71_000);
    expect(new Set(returns.map((atMs) => Math.floor(atMs / 1000))).size).toBeGreaterThan(4);
    const counted = run.result.errors.filter(({ cause }) => cause === 'cut');
    expect(counted).toMatchObject([{ operation: 'connect', count: 12 }]);
    // The devices continue to work: only their sockets were closed.
    expect(moments(run, authRequests).filter((atMs) => atMs >= MINUTE_MS)).toEqual([]);
  });

  it('reconnects all devices at once without jitter', { timeout: RUN_MAX_MS }, async () => {
    const incident = { ...storm, withinMs: 10_000, jitter: false };
    const run = await runFleet({ ...connected, incidents: [incident] });
    const returns = moments(run, isSocketOpening).filter((atMs) => atMs >= MINUTE_MS);
    expect(returns).toHaveLength(12);
    for (const atMs of returns) expect(Math.abs(atMs - 70_000)).toBeLessThan(500);
  });

  it('reconnects each device by back-off without a window', { timeout: RUN_MAX_MS }, async () => {
    const run = await runFleet({ ...connected, incidents: [storm] });
    const returns = moments(run, isSocketOpening).filter((atMs) => atMs >= MINUTE_MS);
    expect(returns).toHaveLength(12);
    expect(Math.max(...returns)).toBeLessThan(MINUTE_MS + 1500);
    expect(new Set(returns).size).toBeGreaterThan(2);
  });

  it('leaves the sockets of other cohorts open when it concerns one cohort', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const cohorts = [
      { name: 'here', weight: 1 },
      { name: 'there', weight: 1 },
    ];
    const run = await runFleet({
      ...connected,
      cohorts,
      incidents: [{ ...storm, cohort: 'there' }],
    });
    const hit = new Set(run.events.filter(lost).map(({ device }) => device));
    const there = run.result.devices.filter(({ cohort }) => cohort === 'there');
    expect([...hit].sort()).toEqual(there.map(({ index }) => index).sort());
    expect(hit.size).toBe(6);
  });
});

describe('a power cut', () => {
  const cut = { name: 'power-cut', atMs: 60_000, lastingMs: 20_000, withinMs: 10_000 } as const;

  it('silences every device, and all devices return at random within the window', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const run = await runFleet({ incidents: [cut] });
    const asked = moments(run, ofDevices);
    expect(countBetween(asked, 0, 60_000)).toBeGreaterThan(0);
    expect(countBetween(asked, 60_001, 80_000)).toBe(0);
    const returns = moments(run, authRequests).filter((atMs) => atMs >= 80_000);
    expect(returns).toHaveLength(12);
    expect(new Set(returns.map((atMs) => Math.floor(atMs / 1000))).size).toBeGreaterThan(4);
    expect(Math.max(...returns)).toBeLessThan(90_500);
    expect(run.result.reconciliation).toMatchObject({ checked: true, ok: true });
  });

  it('restarts all devices at once without jitter', { timeout: RUN_MAX_MS }, async () => {
    const run = await runFleet({ incidents: [{ ...cut, jitter: false }] });
    const returns = moments(run, authRequests).filter((atMs) => atMs >= 80_000);
    expect(returns).toHaveLength(12);
    for (const atMs of returns) expect(Math.abs(atMs - 90_000)).toBeLessThan(500);
  });

  it('does not affect the other cohorts when it concerns one cohort', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const cohorts = [
      { name: 'here', weight: 1 },
      { name: 'there', weight: 1 },
    ];
    const run = await runFleet({ cohorts, incidents: [{ ...cut, cohort: 'there' }] });
    const silent = run.result.devices.filter(({ index }) => {
      const own = (event: FleetEvent): boolean => ofDevices(event) && event.device === index;
      return countBetween(moments(run, own), 60_001, 80_000) === 0;
    });
    expect(silent).toHaveLength(6);
  });

  it('loses no device during updates', { timeout: RUN_MAX_MS }, async () => {
    // The deployment exists after a few seconds, and the cut comes at the first poll of the
    // devices.
    const incidents = [{ ...cut, atMs: 6000 }];
    const run = await runFleet({ incidents, durationMs: 5 * MINUTE_MS });
    const { success, failure, updating } = run.result.funnel;
    expect([success + failure, updating]).toEqual([12, 0]);
    expect(run.result.reconciliation).toMatchObject({ checked: true, ok: true });
  });
});

describe('a week in which device tokens expire', () => {
  it('requires every device to authenticate again exactly once', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const week = { name: 'token-expiry-week', atMs: 30_000, withinMs: 60_000 } as const;
    const run = await runFleet({ incidents: [week] });
    const renewed = moments(run, authRequests).filter((atMs) => atMs >= 30_000);
    expect(renewed).toHaveLength(12);
    expect(Math.max(...renewed)).toBeLessThan(101_000);
    const refused = run.events.filter((event) => polls(event) && isRefused(event));
    expect(refused.length).toBeGreaterThan(0);
  });
});

describe('an update night incident', () => {
  it('deploys at its start time, and every device updates within the night', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const night = { name: 'update-night', atMs: 10 * MINUTE_MS, withinMs: 20_000 } as const;
    const run = await runFleet({
      incidents: [night],
      pollIntervalMs: 60 * MINUTE_MS,
      // Devices that are not accepted yet ask more often than once an hour.
      backOff: { kind: 'fixed', minMs: 5000 },
      durationMs: 12 * MINUTE_MS,
    });
    const [deployedMs = 0] = moments(run, (event) => event.kind === 'deployment');
    expect(deployedMs).toBeGreaterThanOrEqual(10 * MINUTE_MS);
    expect(run.result.funnel.success).toBe(12);
    const reports = moments(run, isOfOperation('put-deployment-status'));
    expect(Math.max(...reports)).toBeLessThan(deployedMs + 30_000);
  });
});

describe('a comparison of back-offs', () => {
  it('compares two back-offs after an outage', { timeout: RUN_MAX_MS }, async () => {
    // All devices poll half a second after the start of the outage, and then only after the run.
    const comparison = { name: 'backoff-comparison', at: '59.5s', lasting: '30s' };
    const settings = { seed: 'load', incident: [comparison] };
    const { cohorts = [], incidents = [] } = planOf(settings, knownBehaviours);
    const run = await runFleet({
      devices: 40,
      cohorts,
      incidents,
      connect: false,
      backOff: { minMs: 1000, maxMs: 16_000 },
      pollSpread: 'lockstep',
      pollIntervalMs: MINUTE_MS,
      durationMs: 119_000,
    });
    const [exponential, jittered, ...otherCohorts] = run.result.backoffComparison ?? [];
    expect(otherCohorts).toEqual([]);
    expect(exponential).toMatchObject({ cohort: 'exponential', devices: 20, recovered: 20 });
    expect(jittered).toMatchObject({ cohort: 'full-jitter', devices: 20, recovered: 20 });
    expect(exponential?.fullRecoveryMs).toBeGreaterThan(0);
    // Devices without jitter return within one second, the others at different times.
    expect(exponential?.peakRequestsPerSecond).toBeGreaterThan(
      2 * (jittered?.peakRequestsPerSecond ?? 0),
    );
    const sum = exponential?.requestsPerSecond.reduce((total, each) => total + each, 0);
    expect(sum).toBe(exponential?.requests);
    const outage = run.result.errors.filter(({ cause }) => cause === 'transport/OUTAGE');
    expect(outage.length).toBeGreaterThan(0);
  });

  it('closes the sockets at the start of the outage, and each device reconnects', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const outage = { name: 'backoff-comparison', atMs: 60_000, lastingMs: 30_000 } as const;
    const backOff = { minMs: 1000, maxMs: 8000 };
    const run = await runFleet({ connect: true, backOff, incidents: [outage] });
    const timesOf = (kind: FleetEvent['kind']) =>
      moments(run, (event) => event.kind === kind).filter((atMs) => atMs >= 60_000);
    const lost = timesOf('socket-closed').filter((atMs) => atMs < 119_000);
    expect(lost).toHaveLength(12);
    expect(Math.max(...lost)).toBeLessThan(60_500);
    const back = timesOf('socket-opened');
    expect(back).toHaveLength(12);
    expect(Math.min(...back)).toBeGreaterThanOrEqual(90_000);
    expect(Math.max(...back)).toBeLessThan(99_000);
    const causes = run.result.errors.filter(({ operation }) => operation === 'connect');
    expect(causes.map(({ cause }) => cause).sort()).toEqual(['cut', 'transport/OUTAGE']);
    // Each device tries to connect several times during the outage, and no handshake is sent.
    const tries = causes.find(({ cause }) => cause === 'transport/OUTAGE')?.count ?? 0;
    expect(tries).toBeGreaterThan(12 * 2);
    expect(tries).toBeLessThan(12 * 15);
  });
});

describe('a simulated network with latency and loss', () => {
  const isSocketOpening = (event: FleetEvent): boolean => event.kind === 'socket-opened';
  const plan = { connect: true, durationMs: MINUTE_MS, devices: 4 } as const;

  it('delays WebSockets by a round trip, like requests', { timeout: RUN_MAX_MS }, async () => {
    const firstAfterToken = async (latencyMs: number): Promise<number> => {
      const run = await runFleet({ ...plan, network: { latencyMs } });
      const [granted = 0] = moments(run, (event) => authRequests(event) && !isRefused(event));
      const [first = 0] = moments(run, isSocketOpening);
      return first - granted;
    };
    expect(await firstAfterToken(0)).toBeLessThan(300);
    const slow = await firstAfterToken(2000);
    expect(slow).toBeGreaterThanOrEqual(4000);
    expect(slow).toBeLessThan(4300);
  });

  it('loses handshakes, which are counted and retried, identically for the same seed', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const network = { latencyMs: 100, bytesPerSecond: 5000, lossShare: 0.3 };
    const cohorts = [{ name: 'cellar', weight: 1, network }];
    const backOff = { minMs: 500, maxMs: 1000 };
    const lossy = () => runFleet({ ...plan, cohorts, backOff, requestTimeLimitMs: 1000 });
    const run = await lossy();
    const lost = run.result.errors.find(
      ({ operation, cause }) => operation === 'connect' && cause === 'transport/NETWORK_LOSS',
    );
    expect(lost?.count).toBeGreaterThan(0);
    expect(moments(run, isSocketOpening).length).toBeGreaterThan(0);
    expect((await lossy()).events).toEqual(run.events);
  });
});
