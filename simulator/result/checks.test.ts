import { XMLParser } from 'fast-xml-parser';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { mergeProgress } from '../cluster/merge-progress.ts';
import type { EventFact } from '../device/events.ts';
import { CheckMetrics, type SampledExchangeJudge } from '../metrics/check-metrics.ts';
import type { WatchedExchange } from '../network/exchange-tap.ts';
import { fleetHtml } from '../report/html.ts';
import { fleetJunit } from '../report/junit.ts';
import { fleetReport, progressLine } from '../report/text.ts';
import { figuresOf, sampleProgress, sampleResult } from '../testing/sample-result.ts';
import { mergeResults } from './merge.ts';
import { mergedChecks, ratedChecks } from './merge-checks.ts';
import { type FleetResult, fleetResultShape } from './result.ts';
import { MergedFigures } from './shard-figures.ts';

const startMs = Date.UTC(2026, 0, 31, 12);
const evidence = {
  expected: 'status 204',
  actual: '200 with the body <b>no</b>',
  request: { line: 'PUT http://127.0.0.1:8080/x', headers: { accept: '*/*' }, body: '{}' },
  response: { status: 200, headers: {}, body: '<b>no</b>' },
};

/**
 * A judge of exchanges: every exchange meets `kept`, and those whose method is DELETE violate
 * `violated`.
 */
const judge: SampledExchangeJudge = {
  requirements: ['kept', 'violated', 'unseen'].map((requirement) => ({
    requirement,
    sentence: `What is ${requirement} is so.`,
  })),
  judge: ({ method }) => [
    { requirement: 'kept', evidence: undefined },
    { requirement: 'violated', evidence: method === 'DELETE' ? () => evidence : undefined },
  ],
};

function exchangeAt(second: number, device: number, method = 'GET'): WatchedExchange {
  const sentMs = startMs + second * 1000;
  const url = 'http://127.0.0.1:8080/x';
  const operation = 'put-attributes';
  return { device, operation, method, url, headers: {}, sentMs, endedMs: sentMs + 5 };
}

/** Returns metrics of a device with one exchange per second; those in `burst` are wrong. */
function metricsOf(device: number, seconds: readonly number[]) {
  const metrics = new CheckMetrics(judge);
  for (const second of seconds) {
    const stage = second < 2 ? 'run' : 'burst';
    metrics.record(exchangeAt(second, device, stage === 'burst' ? 'DELETE' : 'GET'), stage);
  }
  return metrics;
}

function stage(name: string, from: number, to: number, requests: number) {
  const operation = {
    ...sampleResult.operations[0],
    operation: 'any',
    responses: { '2xx': requests },
  };
  const none = { unanswered: 0, timeouts: 0, resets: 0, refusedConnections: 0, otherErrors: 0 };
  return {
    name,
    startMs: startMs + from * 1000,
    endMs: startMs + to * 1000,
    lateness: figuresOf([]),
    latencies: [],
    operations: [{ ...operation, ...none, signatureRefusals: 0 }],
  };
}

function row(second: number, requests: number) {
  const devices = sampleResult.deviceCounts;
  const otherFields = { errors: 0, p50Ms: 0, p99Ms: 0, buckets: [], devices };
  return { startMs: startMs + second * 1000, requests, ...otherFields };
}

const run = {
  stages: [stage('run', 0, 2, 20), stage('burst', 2, 4, 900)],
  series: { widthMs: 1000, rows: [row(0, 8), row(1, 12), row(2, 380), row(3, 520)] },
};

function resultWith(checks: FleetResult['checks']): FleetResult {
  return { ...sampleResult, ...run, ...(checks && { checks }) };
}

const whole = ratedChecks(metricsOf(0, [0, 1, 2, 3]).figures(1), run);

describe('the checks of a sample', () => {
  it('list judged and violated exchanges by requirement and stage, and the request rate', () => {
    expect(whole).toMatchObject({ devices: 1, exchanges: 4 });
    expect(whole.requirements).toMatchObject([
      { requirement: 'kept', judged: 4, violated: 0 },
      {
        requirement: 'violated',
        judged: 4,
        violated: 2,
        stages: [
          { stage: 'run', judged: 2, violated: 0, requestsPerSecond: 10 },
          { stage: 'burst', judged: 2, violated: 2, requestsPerSecond: 450 },
        ],
        firstViolation: { device: 0, atMs: startMs + 2005, stage: 'burst', requestsPerSecond: 380 },
        violations: [
          [startMs + 2000, 1],
          [startMs + 3000, 1],
        ],
        violatedAt: { minPerSecond: 380, maxPerSecond: 520 },
      },
      { requirement: 'unseen', judged: 0, stages: [], violations: [] },
    ]);
    expect(whole.requirements[0]).not.toHaveProperty('firstViolation');
  });

  it('add up over two processes to those of one, in any order', () => {
    const metrics = new CheckMetrics(judge);
    for (const second of [0, 1, 2, 3]) {
      const [part, method] = second < 2 ? ['run', 'GET'] : ['burst', 'DELETE'];
      for (const device of [0, 1]) metrics.record(exchangeAt(second, device, method), part);
    }
    const alone = ratedChecks(metrics.figures(2), run);
    const parts = [0, 1].map((device) => metricsOf(device, [0, 1, 2, 3]).figures(1));
    expect(mergedChecks(parts, run)).toEqual(alone);
    expect(mergedChecks(parts.toReversed(), run)).toEqual(alone);
  });

  it('report each violation as it happens', () => {
    const facts: EventFact[] = [];
    const metrics = new CheckMetrics(
      judge,
      (violation) => void facts.push({ kind: 'violation', ...violation }),
    );
    metrics.record(exchangeAt(0, 3), 'run');
    metrics.record(exchangeAt(1, 3, 'DELETE'), 'run');
    const operation = 'put-attributes';
    expect(facts).toEqual([{ kind: 'violation', device: 3, requirement: 'violated', operation }]);
  });

  it('are shown during the run, merged over several processes', () => {
    const violated = (...seconds: number[]) => metricsOf(0, seconds).violated();
    expect([violated(0, 1), violated(0, 3)]).toEqual([[], ['violated']]);
    const progressWith = (names: readonly string[]) => ({ ...sampleProgress, violated: names });
    const measured = { together: new MergedFigures([]), lastFigures: [] };
    const merged = mergeProgress(
      [progressWith(['a']), progressWith(['b', 'a']), sampleProgress],
      measured,
    );
    expect(progressLine({ ...sampleProgress, ...merged })).toMatch(/errors, VIOLATED a b$/);
    expect(progressLine(progressWith([]))).not.toContain('VIOLATED');
    expect(mergeProgress([sampleProgress, sampleProgress], measured)).not.toHaveProperty(
      'violated',
    );
  });

  it('keep a bounded number of times at which a requirement was violated', () => {
    const metrics = new CheckMetrics(judge);
    for (let second = 0; second < 4000; second++) {
      metrics.record(exchangeAt(second, 0, 'DELETE'), 'run');
    }
    const { violations = [] } = metrics.figures(1).requirements[1] ?? {};
    expect(violations.length).toBeLessThanOrEqual(900);
    expect(violations.length).toBeGreaterThan(100);
    expect(violations.reduce((sum, [, count]) => sum + count, 0)).toBe(4000);
  });

  it('keep the earliest violation when they are merged', () => {
    const late = metricsOf(0, [3]).figures(1);
    const early = metricsOf(1, [2]).figures(1);
    const never = metricsOf(2, [1]).figures(1);
    for (const parts of [
      [never, late, early],
      [early, never, late],
    ]) {
      const violated = mergedChecks(parts, run)?.requirements[1];
      expect(violated).toMatchObject({ judged: 3, violated: 2, firstViolation: { device: 1 } });
    }
  });

  it('include what a lost process had judged', () => {
    const nothing = { latencies: [], operations: [], errors: [] };
    const lost = {
      ...nothing,
      startMs,
      endMs: startMs + 2000,
      elapsedMs: 2000,
      updates: { whole: [], statuses: [] },
      schedule: { due: 0, sent: 0, lateness: figuresOf([]) },
      rollout: { devices: 1, updated: 0, failed: 0, elapsedMs: 2000, within: [] },
      checks: metricsOf(7, [2]).figures(0),
    };
    const kept = ratedChecks(metricsOf(0, [0, 1]).figures(1), run);
    const { checks } = mergeResults([resultWith(kept)], [lost]);
    expect(checks?.devices).toBe(1);
    expect(checks?.requirements[1]).toMatchObject({ judged: 3, violated: 1 });
    expect(checks?.requirements[1]?.firstViolation).toMatchObject({ device: 7 });
  });

  it('are absent from a merged result when no part has any', () => {
    expect(mergedChecks([undefined, undefined], run)).toBeUndefined();
    expect(mergeResults([sampleResult])).not.toHaveProperty('checks');
  });

  it('are part of the published result, also after a merge', () => {
    const merged = mergeResults([resultWith(whole)]);
    expect(merged.checks).toEqual(whole);
    expect(v.safeParse(fleetResultShape, JSON.parse(JSON.stringify(merged))).success).toBe(true);
  });
});

describe('the checks in the text report', () => {
  it('name what was violated, in which stage, at which first rate, and how', () => {
    const report = fleetReport(resultWith(whole));
    expect(report).toContain('Checks: 1 device watched, 4 requests: 1 of 2 requirements VIOLATED');
    expect(report).toMatch(/violated of tested +run at 10 requests\/s +burst at 450 requests\/s/);
    expect(report).toMatch(/^ {2}violated +0 of 2 +2 of 2$/m);
    expect(report).toContain('first: device 0, 2026-01-31T12:00:02.005Z, put-attributes');
    expect(report).toContain('at 380 requests/s');
    expect(report).toContain('violated at 380 to 520 requests/s');
    expect(report).toContain('expected status 204');
  });

  it('say up to which rate a server met all requirements', () => {
    const checks = ratedChecks(metricsOf(0, [0, 1]).figures(1), run);
    expect(fleetReport(resultWith(checks))).toContain(
      '2 requirements met, 1 not tested, at up to 520 requests/s',
    );
  });

  it('are absent when nothing was checked', () => {
    expect(fleetReport(sampleResult)).not.toContain('Checks');
  });
});

describe('the checks on the report page', () => {
  it('are a table of requirements by stage, with each violation as text', () => {
    const page = fleetHtml(resultWith(whole));
    expect(page).toContain('Checks under load');
    expect(page).toContain('burst at 450 requests/s');
    expect(page).toContain('\\u003cb>no\\u003c/b>');
    expect(page).not.toContain('<b>no</b>');
  });

  it('are absent when nothing was checked', () => {
    expect(fleetHtml(sampleResult)).not.toContain('Checks under load');
  });
});

describe('the checks in a JUnit document', () => {
  it('are a test for each requirement: failed when violated, skipped when not tested', () => {
    const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '@' });
    const { testsuite } = parser.parse(fleetJunit(resultWith(whole))).testsuites;
    const [kept, violated, unseen] = testsuite.testcase.slice(-3);
    expect(kept).toEqual({
      '@classname': 'fleet',
      '@name': 'requirement kept: What is kept is so.',
    });
    expect(violated.failure['@message']).toMatch(
      /^The server violated violated 2 of 4 times, first at 380 requests\/s: /,
    );
    expect(unseen.skipped['@message']).toMatch(/^No watched request tested /);
  });
});
