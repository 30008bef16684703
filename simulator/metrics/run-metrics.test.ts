import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { scopesIn } from '../result/scopes.ts';
import { noonMs } from '../testing/client-fixture.ts';
import { RunMetrics } from './run-metrics.ts';
import { ScopeMetrics } from './scope-metrics.ts';

const clock = new ManualClock(noonMs);

const answered = (operation: string, status: number, elapsedMs: number, waitingMs = 0) => ({
  operation,
  status,
  elapsedMs,
  waitingMs,
});

describe('the metrics of a run', () => {
  it('contain percentiles in milliseconds, exact to three digits', () => {
    const metrics = new RunMetrics(clock);
    for (let ms = 1; ms <= 1000; ms++)
      metrics.recordResponse(answered('put-deployment-status', 204, ms));
    const [latency] = metrics.latencies();
    expect(latency?.operation).toBe('put-deployment-status');
    expect(latency?.count).toBe(1000);
    expect(latency?.p50Ms).toBeCloseTo(500, -0.3);
    expect(latency?.p90Ms).toBeCloseTo(900, -0.3);
    expect(latency?.p99Ms).toBeCloseTo(990, -0.3);
    expect(latency?.maxMs).toBeCloseTo(1000, -0.3);
  });

  it('distinguish a tenth of a millisecond from a fifth', () => {
    const metrics = new RunMetrics(clock);
    metrics.recordResponse(answered('connect', 101, 0.1));
    metrics.recordResponse(answered('connect', 101, 0.2));
    expect(metrics.latencies()[0]).toMatchObject({ p50Ms: 0.1, maxMs: 0.2 });
  });

  it('limit a latency that exceeds the histogram, instead of failing', () => {
    const metrics = new RunMetrics(clock);
    metrics.recordResponse(answered('connect', 101, 1e12));
    expect(metrics.latencies()[0]?.count).toBe(1);
  });

  it('count responses by status class, and unanswered exchanges separately', () => {
    const metrics = new RunMetrics(clock);
    metrics.recordResponse(answered('post-alerts', 204, 1));
    metrics.recordResponse(answered('post-alerts', 200, 1));
    metrics.recordResponse(answered('post-alerts', 503, 1));
    metrics.recordNoResponse({ operation: 'post-alerts', noResponse: 'timeout' });
    expect(metrics.operations()).toEqual([
      {
        operation: 'post-alerts',
        responses: { '2xx': 2, '5xx': 1 },
        unanswered: 1,
        timeouts: 1,
        resets: 0,
        refusedConnections: 0,
        otherErrors: 0,
        signatureRefusals: 0,
        sentBytes: 0,
        receivedBytes: 0,
      },
    ]);
    expect(metrics.exchangeCount).toBe(4);
  });

  it('divide each latency into the wait before it was sent and the service after', () => {
    const metrics = new RunMetrics(clock);
    metrics.recordResponse(answered('post-alerts', 204, 1000, 900));
    metrics.recordResponse(answered('post-alerts', 204, 40, 0));
    const [latency] = metrics.latencies();
    expect(latency).toMatchObject({ count: 2, maxMs: 1000 });
    expect(latency?.waiting).toMatchObject({ count: 2, p50Ms: 0, maxMs: 900 });
    expect(latency?.service).toMatchObject({ count: 2, maxMs: 100 });
    expect(latency?.service?.p50Ms).toBeCloseTo(40, 0);
  });

  it('count bytes by operation, stage and second, also of an exchange without a response', () => {
    const metrics = new RunMetrics(clock);
    metrics.recordSentBytes('post-alerts', 120);
    metrics.enterStage('hold');
    metrics.recordReceivedBytes('download-artifact', 5000);
    metrics.recordNoResponse({ operation: 'download-artifact', noResponse: 'reset' });
    const bytes = { sentBytes: 120, receivedBytes: 5000 };
    expect(metrics.operations()).toMatchObject([
      { operation: 'download-artifact', sentBytes: 0, receivedBytes: 5000, unanswered: 1 },
      { operation: 'post-alerts', sentBytes: 120, receivedBytes: 0 },
    ]);
    expect(metrics.stages().at(-1)?.operations).toMatchObject([{ receivedBytes: 5000 }]);
    expect(metrics.series.figures().rows).toMatchObject([bytes]);
  });

  it('count each cohort and stage that a threshold names, once, and no other', () => {
    const own = new ManualClock(noonMs);
    const texts = ['p99(all){cohort:slow,stage:hold} < 1s', 'errors{cohort:slow,stage:hold} = 0'];
    const cohortOf = (caller: string) => (caller === 'device 1' ? 'slow' : 'fast');
    const named = scopesIn([...texts, 'errors{stage:hold} = 0', 'errors = 0']);
    const scopes = new ScopeMetrics(named, cohortOf);
    const metrics = new RunMetrics(own, scopes);
    const slow = { ...answered('post-alerts', 204, 5), caller: 'device 1' };
    metrics.recordResponse(slow);
    own.advance(1000);
    metrics.enterStage('hold');
    metrics.recordResponse(slow);
    metrics.recordResponse({ ...slow, caller: 'device 2' });
    metrics.recordNoResponse({
      operation: 'post-alerts',
      caller: 'device 1',
      noResponse: 'timeout',
    });
    own.advance(3000);
    expect(metrics.scopes()).toMatchObject([
      {
        cohort: 'slow',
        stage: 'hold',
        durationMs: 3000,
        latencies: [{ count: 1 }],
        operations: [{ responses: { '2xx': 1 }, unanswered: 1 }],
      },
      { stage: 'hold', durationMs: 3000, latencies: [{ count: 2 }] },
    ]);
  });

  it('contain no latency for an operation that was never answered', () => {
    const metrics = new RunMetrics(clock);
    metrics.recordNoResponse({ operation: 'connect', noResponse: 'refused' });
    expect(metrics.latencies()).toEqual([]);
  });

  it('list causes by operation, the most frequent first, without counting them as errors', () => {
    const metrics = new RunMetrics(clock);
    metrics.countError({ operation: 'connect', label: 'closed/1006' });
    for (const _ of [1, 2]) metrics.countError({ operation: 'post-alerts', label: 'status/500' });
    metrics.countError({ operation: 'post-alerts', label: 'timeout' });
    expect(metrics.errors().map(({ cause, count }) => [cause, count])).toEqual([
      ['status/500', 2],
      ['closed/1006', 1],
      ['timeout', 1],
    ]);
    expect(metrics.errorCount).toBe(0);
  });

  it('count unanswered exchanges and 5xx responses as errors', () => {
    const metrics = new RunMetrics(clock);
    for (const status of [200, 401, 503])
      metrics.recordResponse(answered('post-alerts', status, 1));
    metrics.recordNoResponse({ operation: 'post-alerts', noResponse: 'timeout' });
    expect([metrics.exchangeCount, metrics.errorCount]).toEqual([4, 2]);
  });

  it('count each stage separately, and the whole run in addition', () => {
    const metrics = new RunMetrics(clock);
    metrics.enterStage('ramp');
    metrics.recordLateness(80);
    metrics.recordResponse(answered('post-alerts', 204, 100));
    metrics.enterStage('hold');
    metrics.recordLateness(1);
    metrics.recordResponse(answered('post-alerts', 204, 5));
    metrics.recordNoResponse({ operation: 'post-alerts', noResponse: 'timeout' });
    metrics.enterStage('drain');
    const seen = metrics.stages().map(({ name, lateness, latencies, operations }) => ({
      name,
      lateMs: lateness.maxMs,
      slowestMs: latencies[0]?.maxMs,
      timeouts: operations[0]?.timeouts,
    }));
    expect(seen).toEqual([
      { name: 'ramp', lateMs: 80, slowestMs: 100, timeouts: 0 },
      { name: 'hold', lateMs: 1, slowestMs: 5, timeouts: 1 },
    ]);
    expect(metrics.latencies()[0]).toMatchObject({ count: 2, maxMs: 100 });
    expect(metrics.operations()[0]).toMatchObject({ responses: { '2xx': 2 }, timeouts: 1 });
    expect(metrics.lateness.count).toBe(2);
  });
});
