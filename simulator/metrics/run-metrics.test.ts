import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/clock.ts';
import { noonMs } from '../testing/bench.ts';
import { Ledger } from './run-metrics.ts';

const clock = new ManualClock(noonMs);

describe('the books of a run', () => {
  it('give percentiles in milliseconds, exact to three digits', () => {
    const ledger = new Ledger(clock);
    for (let ms = 1; ms <= 1000; ms++) ledger.answered('put-deployment-status', 204, ms);
    const [latency] = ledger.latencies();
    expect(latency?.operation).toBe('put-deployment-status');
    expect(latency?.count).toBe(1000);
    expect(latency?.p50Ms).toBeCloseTo(500, -0.3);
    expect(latency?.p90Ms).toBeCloseTo(900, -0.3);
    expect(latency?.p99Ms).toBeCloseTo(990, -0.3);
    expect(latency?.maxMs).toBeCloseTo(1000, -0.3);
  });

  it('tell a tenth of a millisecond from a fifth', () => {
    const ledger = new Ledger(clock);
    ledger.answered('connect', 101, 0.1);
    ledger.answered('connect', 101, 0.2);
    expect(ledger.latencies()[0]).toMatchObject({ p50Ms: 0.1, maxMs: 0.2 });
  });

  it('bound a latency that is beyond the histogram instead of failing', () => {
    const ledger = new Ledger(clock);
    ledger.answered('connect', 101, 1e12);
    expect(ledger.latencies()[0]?.count).toBe(1);
  });

  it('count answers by status class and what went unanswered apart', () => {
    const ledger = new Ledger(clock);
    ledger.answered('post-alerts', 204, 1);
    ledger.answered('post-alerts', 200, 1);
    ledger.answered('post-alerts', 503, 1);
    ledger.unanswered('post-alerts', 'timeout');
    expect(ledger.operations()).toEqual([
      {
        operation: 'post-alerts',
        answers: { '2xx': 2, '5xx': 1 },
        unanswered: 1,
        timeouts: 1,
        resets: 0,
        refusedConnections: 0,
        otherFaults: 0,
        signatureRefusals: 0,
      },
    ]);
    expect(ledger.exchangeCount).toBe(4);
  });

  it('give no latency for an operation that never was answered', () => {
    const ledger = new Ledger(clock);
    ledger.unanswered('connect', 'refused');
    expect(ledger.latencies()).toEqual([]);
  });

  it('count errors by operation and cause, the most frequent first', () => {
    const ledger = new Ledger(clock);
    ledger.fault({ operation: 'connect', label: 'closed/1006' });
    for (const _ of [1, 2]) ledger.fault({ operation: 'post-alerts', label: 'status/500' });
    ledger.fault({ operation: 'post-alerts', label: 'timeout' });
    expect(ledger.errors().map(({ cause, count }) => [cause, count])).toEqual([
      ['status/500', 2],
      ['closed/1006', 1],
      ['timeout', 1],
    ]);
    expect(ledger.errorCount).toBe(4);
  });

  it('keep what a phase saw apart, and the whole beside it', () => {
    const ledger = new Ledger(clock);
    ledger.enterPhase('ramp');
    ledger.sent(80);
    ledger.answered('post-alerts', 204, 100);
    ledger.enterPhase('hold');
    ledger.sent(1);
    ledger.answered('post-alerts', 204, 5);
    ledger.unanswered('post-alerts', 'timeout');
    ledger.enterPhase('drain');
    const seen = ledger.phases().map(({ name, lateness, latencies, operations }) => ({
      name,
      lateMs: lateness.maxMs,
      slowestMs: latencies[0]?.maxMs,
      timeouts: operations[0]?.timeouts,
    }));
    expect(seen).toEqual([
      { name: 'ramp', lateMs: 80, slowestMs: 100, timeouts: 0 },
      { name: 'hold', lateMs: 1, slowestMs: 5, timeouts: 1 },
    ]);
    expect(ledger.latencies()[0]).toMatchObject({ count: 2, maxMs: 100 });
    expect(ledger.operations()[0]).toMatchObject({ answers: { '2xx': 2 }, timeouts: 1 });
    expect(ledger.lateness.count).toBe(2);
  });
});
