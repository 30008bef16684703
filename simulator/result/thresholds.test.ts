import { describe, expect, it } from 'vitest';
import { ThresholdError, thresholdOf } from '../plan/thresholds-parser.ts';
import { figuresOf, sampleResult } from '../testing/sample-result.ts';
import type { FleetResult } from './result.ts';
import { isUnattainable, thresholdVerdicts } from './thresholds.ts';
import { type Measures, measuresOf } from './thresholds-measures.ts';

const startMs = Date.parse(sampleResult.startedAt);

/** Returns a run of this many devices, some of which were updated after these times. */
function runOf(devices: number, updatedAfterMs: readonly number[], failed = 0): FleetResult {
  const row = { serial: 's', keyType: 'rsa', behaviour: 'steady', reported: [] } as const;
  const rows = updatedAfterMs.map((afterMs, index) => {
    const finishedMs = startMs + 100 + afterMs;
    return { ...row, index, outcome: 'success' as const, artifactName: 'release-2', finishedMs };
  });
  return {
    ...sampleResult,
    deployedMs: startMs + 100,
    durationMs: 60_100,
    funnel: { ...sampleResult.funnel, devices },
    deviceCounts: { ...sampleResult.deviceCounts, done: rows.length, failed },
    devices: rows,
  };
}

function verdictOn(text: string, result: FleetResult = sampleResult) {
  const [verdict] = thresholdVerdicts([text], measuresOf(result));
  return [verdict?.verdict, verdict?.observed];
}

describe('a threshold for a run', () => {
  it.each([
    ['95% updated within 10m', { kind: 'updated', withinMs: 600_000 }, '>=', 0.95],
    ['100 % updated within 1.5 h', { kind: 'updated', withinMs: 5_400_000 }, '>=', 1],
    ['p99(post-alerts) < 200ms', { kind: 'percentile', percent: 99 }, '<', 200],
    ['P99.9( status ) <= 1s', { kind: 'percentile', percent: 99.9 }, '<=', 1000],
    ['max(poll)<250us', { kind: 'percentile', percent: 100 }, '<', 0.25],
    ['errors < 0.1%', { kind: 'errors', unit: 'share', operations: [] }, '<', 0.001],
    ['errors(poll) = 0', { kind: 'errors', unit: 'count' }, '=', 0],
    ['success rate >= 99%', { kind: 'success' }, '>=', 0.99],
    ['lost  reports = 0', { kind: 'reports', outcome: 'lost' }, '=', 0],
    ['doubled reports <= 1', { kind: 'reports', outcome: 'doubled' }, '<=', 1],
    ['rate(poll) > 100/s', { kind: 'rate' }, '>', 100],
  ])('is read from "%s"', (text, subject, comparator, limit) => {
    const threshold = thresholdOf(text);
    expect(threshold).toMatchObject({ subject, comparator, abortsRun: false });
    expect(threshold.limit).toBeCloseTo(limit, 9);
    expect(thresholdOf(`${text}, abort on fail`)).toMatchObject({ subject, abortsRun: true });
  });

  it('covers all operations that request an update when it names polls', () => {
    expect(thresholdOf('p50(poll) < 1s').subject).toMatchObject({
      operations: ['get-next-deployment', 'post-next-deployment', 'post-next-deployment-v2'],
    });
  });

  it.each([
    ['', 'accepted: "95% updated within 10m", "p99(poll) < 200ms", "errors < 0.1%"'],
    ['fast please', 'accepted: '],
    ['95% updated', 'accepted: '],
    ['95% updated within 10', 'accepted: '],
    ['p99 < 200ms', 'accepted: '],
    ['p99(poll) < 200', 'accepted: '],
    ['p99(poll) << 200ms', 'accepted: '],
    ['p99(poll) < -1ms', 'accepted: '],
    ['p99(pol) < 200ms', 'there is no operation "pol"; use all, poll, status'],
    ['p0(poll) < 1s', 'a percentile must be above 0 and at most 100'],
    ['p101(poll) < 1s', 'a percentile must be above 0 and at most 100'],
    ['101% updated within 1m', 'a share must be at most 100%'],
    ['errors < 200%', 'a share must be at most 100%'],
    ['lost reports = 0.5', 'accepted: '],
    ['rate(poll) > 100', 'accepted: '],
    ['errors < 0.1% or so', 'accepted: '],
    ['p99(poll){} < 1s', 'braces hold one cohort, one stage or both'],
    ['p99(poll){cohort:a,cohort:b} < 1s', 'braces hold one cohort, one stage or both'],
    ['p99(poll){device:3} < 1s', 'braces hold one cohort, one stage or both'],
    ['p99(poll) < 1s {cohort:a}', 'a cohort or stage follows the subject of a latency'],
    ['lost reports{cohort:a} = 0', 'a cohort or stage follows the subject of a latency'],
    [`p99(poll) < ${'9'.repeat(500)}ms`, 'accepted: '],
  ])('cannot be "%s", and the error shows the accepted formats', (text, sentence) => {
    expect(() => thresholdOf(text)).toThrow(ThresholdError);
    expect(() => thresholdOf(text)).toThrow(sentence);
  });

  it('never prints control characters to the terminal', () => {
    expect(() => thresholdOf('\u001b[2J')).not.toThrow('\u001b');
  });
});

describe('the verdict on a threshold', () => {
  it.each([
    ['max(post-alerts) <= 13ms', 'met', '13 ms over 6 requests'],
    [
      'max(post-alerts) < 13ms',
      'missed',
      '13 ms over 6 requests, of which up to 2 ms is the lateness of the load generator',
    ],
    ['p50(all) < 1.5ms', 'met', '1 ms over 6 requests'],
    ['p99(poll) < 1ms', 'inconclusive', 'no request was answered'],
    ['errors < 50%', 'met', '22.22% (2 of 9 requests)'],
    ['errors(post-alerts) = 0', 'missed', '2 of 9 requests'],
    ['errors(poll) < 1%', 'inconclusive', 'there were no requests'],
    ['lost reports = 0', 'met', '0 lost'],
    ['rate(all) > 2/s', 'met', '2.126/s'],
    ['rate(all) > 3/s', 'missed', '2.126/s'],
    ['success rate >= 50%', 'missed', '0% (0 of 2 finished updates)'],
  ])('is for "%s" the verdict %s', (text, verdict, observed) => {
    expect(verdictOn(text)).toEqual([verdict, observed]);
  });

  it.each<[readonly number[], string]>([
    [[10_000, 20_000, 30_000], 'met'],
    [[10_000, 30_001], 'missed'],
  ])('counts updates from the deployment to the outcome: %j', (afterMs, verdict) => {
    expect(verdictOn('75% updated within 30s', runOf(4, afterMs))[0]).toBe(verdict);
  });

  it('is met exactly at the limit and missed just below it', () => {
    const afterMs = Array.from({ length: 95 }, () => 1000);
    const text = '95% updated within 1s';
    expect(verdictOn(text, runOf(100, afterMs))[0]).toBe('met');
    expect(verdictOn(text, runOf(100, afterMs.slice(1)))[0]).toBe('missed');
  });

  it('is inconclusive when nothing was reconciled', () => {
    const reconciliation = { ...sampleResult.reconciliation, checked: false };
    const unchecked = { ...sampleResult, reconciliation };
    expect(verdictOn('lost reports = 0', unchecked)).toEqual([
      'inconclusive',
      'server and fleet were not reconciled',
    ]);
  });

  it('is inconclusive when the run was interrupted before the time limit', () => {
    const broken = { ...runOf(4, [10_000]), ended: 'interrupted' as const };
    expect(verdictOn('75% updated within 10m', broken)[0]).toBe('inconclusive');
    expect(verdictOn('75% updated within 10s', broken)[0]).toBe('missed');
  });
});

describe('a threshold for a cohort or a stage', () => {
  const row = { operation: 'post-alerts', ...figuresOf([900]) };
  const [counts] = sampleResult.operations;
  const operations = counts ? [{ ...counts, responses: { '2xx': 10 }, unanswered: 0 }] : [];
  const scope = { cohort: 'Slow', stage: '2 hold' };
  const scopes = [{ ...scope, durationMs: 2000, latencies: [row], operations }];
  const result = { ...sampleResult, scopes };

  it.each([
    ['p99(post-alerts){cohort:Slow,stage:2 hold} < 1s', 'met'],
    ['max(all) { stage: 2 hold, cohort: Slow } < 1ms', 'missed'],
    ['errors(all){cohort:Slow,stage:2 hold} = 0', 'met'],
    ['errors{cohort:Slow,stage:2 hold} < 1%', 'met'],
    ['rate(all){cohort:Slow,stage:2 hold} >= 5/s', 'met'],
    ['p99(post-alerts){cohort:slow,stage:2 hold} < 1s', 'inconclusive'],
    ['p99(post-alerts){cohort:Slow} < 1s', 'inconclusive'],
  ])('is judged by the figures of exactly that part: %s is %s', (text, verdict) => {
    expect(thresholdOf(text).text).toContain('{');
    expect(verdictOn(text, result)[0]).toBe(verdict);
  });

  it('says how late the load generator was over the whole run when it is missed', () => {
    const [, observed] = verdictOn('p99(all){cohort:Slow,stage:2 hold} < 1ms', result);
    expect(observed).toBe(
      '900 ms over 1 requests, of which up to 2 ms is the lateness of the load generator over the whole run',
    );
  });

  it('is unattainable by the exchanges of its part, not by those of the run', () => {
    const text = 'p50(all){cohort:Slow,stage:2 hold} < 1us';
    expect(isLost(text, result)).toBe(false);
    const [many] = scopes;
    if (many === undefined || counts === undefined) throw new Error('there are figures');
    const busy = { ...many, operations: [{ ...counts, responses: { '2xx': 1100 } }] };
    expect(isLost(text, { ...result, scopes: [busy] })).toBe(true);
  });
});

/** Returns the measures of a run in progress. */
function measuresInProgress(result: FleetResult): Measures {
  return { ...measuresOf(result), isOver: false, reports: () => undefined };
}

function isLost(text: string, result: FleetResult): boolean {
  return isUnattainable(thresholdOf(text), measuresInProgress(result));
}

describe('a threshold becomes out of reach', () => {
  it('once its time is up, or too many devices have failed', () => {
    expect(isLost('75% updated within 30s', runOf(4, [10_000]))).toBe(true);
    expect(isLost('75% updated within 10m', runOf(4, [10_000]))).toBe(false);
    expect(isLost('75% updated within 10m', runOf(4, [10_000], 1))).toBe(false);
    expect(isLost('75% updated within 10m', runOf(4, [10_000], 2))).toBe(true);
  });

  it('once a count or a maximum, which can only grow, is too large', () => {
    expect(isLost('errors = 0', sampleResult)).toBe(true);
    expect(isLost('errors < 2', sampleResult)).toBe(true);
    expect(isLost('errors < 3', sampleResult)).toBe(false);
    expect(isLost('errors > 5', sampleResult)).toBe(false);
    expect(isLost('max(all) < 5ms', sampleResult)).toBe(true);
    expect(isLost('lost reports = 0', sampleResult)).toBe(false);
  });

  it('for a share, a rate or a percentile only after many exchanges', () => {
    const texts = ['errors < 0.1%', 'p50(all) < 1us', 'rate(all) > 1000/s'];
    const [operation] = sampleResult.operations;
    const latency = { operation: 'post-alerts', ...figuresOf([1, 2]) };
    const many = {
      ...sampleResult,
      latencies: [latency],
      operations: operation ? [{ ...operation, responses: { '2xx': 1100, '5xx': 10 } }] : [],
    };
    for (const text of texts) {
      expect(isLost(text, sampleResult)).toBe(false);
      expect(isLost(text, many)).toBe(true);
    }
  });
});
