import { hostname } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../fixtures/base/clock.ts';
import type { MachineReading } from '../metrics/generator-machine.ts';
import { noonMs } from '../testing/client-fixture.ts';
import { FakeServer } from '../testing/fake-server.ts';
import { planWith } from '../testing/plan-with.ts';
import type { Responses } from '../testing/stub-server.ts';
import {
  type FleetEnvironment,
  type FleetPlan,
  type FleetProgress,
  simulateFleet,
} from './simulate-fleet.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serverOf(changed?: (environment: FakeServer) => Responses): Promise<FakeServer> {
  const environment = await FakeServer.start(changed);
  closers.push(() => environment.server.close());
  return environment;
}

function run(
  baseUrl: string,
  plan: Partial<FleetPlan>,
  environment: Partial<FleetEnvironment> = {},
) {
  const whole = planWith({
    baseUrl,
    pollIntervalMs: 20,
    rampMs: 20,
    deviceType: 'board',
    acceptWith: { email: 'admin@example.com', password: 'secret-word' },
    ...plan,
  });
  const { signal } = new AbortController();
  return simulateFleet(whole, { signal, clock: systemClock, ...environment });
}

describe('the latencies of a run', () => {
  it('show that the event loop was blocked, and so do the generator figures', async () => {
    const environment = await serverOf();
    const ended = new AbortController();
    let stalledAfter: number | undefined;
    // The run continues until everything that fell due during the stall has been answered.
    const stall = ({ exchanges }: FleetProgress): void => {
      if (stalledAfter !== undefined && exchanges >= stalledAfter + 100) ended.abort();
      if (stalledAfter !== undefined || exchanges < 100) return;
      stalledAfter = exchanges;
      const until = systemClock.monotonicMs() + 300;
      while (systemClock.monotonicMs() < until);
    };
    const { signal } = ended;
    const result = await run(environment.server.baseUrl, {}, { signal, onProgress: stall });
    const longestMs = Math.max(...result.latencies.map(({ maxMs }) => maxMs));
    expect(longestMs).toBeGreaterThan(250);
    expect(result.generator.processes[0]?.eventLoopLagMaxMs).toBeGreaterThan(200);
  });

  it('distinguish a refused signature from a pending device', async () => {
    const error = 'signature verification failed';
    const environment = await serverOf(() => ({
      'post-auth-request': () => ({ status: 401, body: { error } }),
    }));
    const { operations } = await run(environment.server.baseUrl, { durationMs: 1500 });
    const auth = operations.find(({ operation }) => operation === 'post-auth-request');
    expect(auth?.signatureRefusals).toBe(auth?.responses['4xx']);
    expect(auth?.signatureRefusals).toBeGreaterThan(0);
  });
});

describe('a run with polls at a fixed rate', () => {
  it('polls as fast as planned, not as fast as its devices would', async () => {
    const environment = await serverOf();
    const plan = { pollIntervalMs: 60_000, pollsPerSecond: 50, durationMs: 2000 };
    const result = await run(environment.server.baseUrl, plan);
    const { due = 0, sent = 0 } = result.fixedRatePolls ?? {};
    expect(due).toBeGreaterThan(30);
    expect(due).toBeLessThanOrEqual(101);
    expect(sent).toBeGreaterThan(0.8 * due);
  });

  it('does not slow down when the server stops answering, and counts what it cannot send', async () => {
    let polls = 0;
    const environment = await serverOf((small) => ({
      'post-next-deployment-v2': (request) => (++polls > 20 ? 'no-response' : small.next(request)),
    }));
    const plan = { pollsPerSecond: 50, durationMs: 2000 };
    const { fixedRatePolls, generator } = await run(environment.server.baseUrl, plan);
    const { due = 0, sent = 0, dropped = 0 } = fixedRatePolls ?? {};
    expect(due).toBeGreaterThan(30);
    expect(dropped).toBeGreaterThan(due / 2);
    expect(sent + dropped).toBe(due);
    expect(generator.schedule.due - generator.schedule.sent).toBeGreaterThanOrEqual(dropped);
  });

  it('makes only its part of the fleet rate in a shard', async () => {
    const environment = await serverOf();
    const shard = { index: 0, of: 4 };
    const plan = { pollsPerSecond: 100, durationMs: 2000, shard };
    const { fixedRatePolls } = await run(environment.server.baseUrl, plan);
    expect(fixedRatePolls?.due).toBeGreaterThan(10);
    expect(fixedRatePolls?.due).toBeLessThanOrEqual(51);
  });
});

/** Ends a run once it has made this many exchanges, however long that takes. */
function endingAfter(exchangesMin: number) {
  const controller = new AbortController();
  const onProgress = ({ exchanges }: FleetProgress): void => {
    if (exchanges >= exchangesMin) controller.abort();
  };
  return { signal: controller.signal, callbacks: { onProgress } };
}

const idle: MachineReading = {
  cpuUserMs: 100,
  cpuSystemMs: 20,
  loopBusyMs: 100,
  loopIdleMs: 900,
  memoryBytes: 2 ** 26,
  collections: 1,
  collectionMs: 2,
  collectionMaxMs: 2,
  eventLoopLagP99Ms: 1,
  eventLoopLagMaxMs: 5,
};

describe('a full run of the simulator', () => {
  it('is invalid when its own process was the limit, and gives the reasons', async () => {
    const environment = await serverOf();
    const reading = { ...idle, eventLoopLagP99Ms: 180, loopBusyMs: 990, loopIdleMs: 10 };
    const machine = () => ({ read: () => reading, close: () => undefined });
    const { signal, callbacks } = endingAfter(2500);
    const plan = { devices: 40, pollIntervalMs: 20 };
    const result = await run(environment.server.baseUrl, plan, { machine, signal, ...callbacks });
    expect(result.generator.schedule.due).toBeGreaterThan(1000);
    expect(result.validity).toBe('invalid');
    expect(result.generator.reasons).toEqual(
      expect.arrayContaining([
        'process 1: event loop delay of 180 ms (p99)',
        'process 1: event loop busy 99% of the time',
      ]),
    );
  });

  it('ends early when a threshold is out of reach, only where requested', async () => {
    const environment = await serverOf(() => ({ 'get-configuration': () => ({ status: 503 }) }));
    const ended = async (thresholds: string[], abortOnThreshold = false) => {
      const plan = { durationMs: 4500, thresholds, abortOnThreshold };
      const result = await run(environment.server.baseUrl, plan);
      return [result.ended, result.thresholds.map(({ verdict }) => verdict)];
    };
    const [suffixed, flagged, unasked] = await Promise.all([
      ended(['errors = 0 abort on fail', 'rate(all) > 1/s']),
      ended(['errors = 0'], true),
      ended(['errors = 0', 'max(all) < 1h abort on fail']),
    ]);
    expect(suffixed).toEqual(['threshold', ['missed', 'met']]);
    expect(flagged).toEqual(['threshold', ['missed']]);
    expect(unasked).toEqual(['duration', ['missed', 'met']]);
  });

  it('shows how long updates took, as a whole and for each status', async () => {
    const environment = await serverOf();
    const plan = { deploy: 'release-2', until: 'settled' as const, devices: 4 };
    const { updates, devices, deployedMs } = await run(environment.server.baseUrl, plan);
    expect(updates.whole.map(({ from, outcome, count }) => [from, outcome, count])).toEqual([
      ['deployment', 'success', 4],
      ['offer', 'success', 4],
    ]);
    expect(updates.statuses.map(({ status, count }) => [status, count])).toEqual([
      ['downloading', 4],
      ['installing', 4],
      ['offered', 4],
      ['rebooting', 4],
    ]);
    for (const { offeredMs = 0, finishedMs = 0 } of devices) {
      expect(finishedMs).toBeGreaterThan(offeredMs);
      expect(offeredMs).toBeGreaterThanOrEqual(deployedMs ?? Number.POSITIVE_INFINITY);
    }
  });
});

describe('the machine of a run', () => {
  it('is described by its properties, without its name or a path', async () => {
    const environment = await serverOf();
    const { machines } = await run(
      environment.server.baseUrl,
      { durationMs: 50 },
      { version: '1.2.3' },
    );
    expect(machines).toEqual([
      {
        fleetbed: '1.2.3',
        node: process.version,
        platform: process.platform,
        release: expect.stringMatching(/^\d/),
        architecture: process.arch,
        cpuModel: expect.stringMatching(/\w/),
        cpus: expect.any(Number),
        memoryBytes: expect.any(Number),
        processes: 1,
      },
    ]);
    const [machine] = machines ?? [];
    expect(machine?.cpus).toBeGreaterThan(0);
    expect(machine?.memoryBytes).toBeGreaterThan(2 ** 27);
    expect(JSON.stringify(machines)).not.toContain(hostname());
    expect(JSON.stringify(machines)).not.toContain(process.cwd());
  });
});

describe('the time course of a run', () => {
  it('has a row for each second, and wider rows when there are too many', async () => {
    const { RunMetrics } = await import('../metrics/run-metrics.ts');
    const clock = new ManualClock(noonMs);
    const { series } = new RunMetrics(clock);
    const second = (at: number) => series.recordExchange(noonMs + at * 1000, at, at % 2 === 0);
    for (let at = 0; at < 900; at++) second(at);
    expect(series.figures()).toMatchObject({ widthMs: 1000 });
    for (let at = 900; at < 3000; at++) second(at);
    const { widthMs, rows } = series.figures();
    expect(widthMs).toBe(4000);
    expect(rows).toHaveLength(750);
    expect(rows.every(({ requests, errors }) => requests === 4 && errors === 2)).toBe(true);
    expect(rows[10]).toMatchObject({ startMs: noonMs + 40_000 });
    expect(rows[10]?.p99Ms).toBeGreaterThanOrEqual(43);
    expect(rows[10]?.p99Ms).toBeLessThan(43 * 1.2);
  });
});
