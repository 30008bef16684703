import { describe, expect, it } from 'vitest';
import { hourOf, hostileResult as result } from '../testing/hostile-result.ts';
import { dividedResult, sampleResult } from '../testing/sample-result.ts';
import { fleetHtml } from './html.ts';
import type { FleetFacts } from './page-facts.ts';

const maxBytes = 2_000_000;
const startMs = Date.parse(sampleResult.startedAt);
const html = fleetHtml(result);

describe('the file of a report page', () => {
  it('can load no other file and runs only its own script', () => {
    const [, policy = ''] =
      /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+';/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<\/script>/g)).toHaveLength(2);
  });

  it('lists all 10,000 devices and stays below 2 MB', () => {
    const hour = fleetHtml({ ...result, ...hourOf(10_000) });
    expect(Buffer.byteLength(hour)).toBeLessThan(maxBytes);
    expect(factsIn(hour).devices.rows).toHaveLength(10_000);
    expect(factsIn(hour).devices.missing).toBe(0);
  });

  it('says how many devices of a larger fleet it omits', () => {
    const errors = Array.from({ length: 5000 }, (_, number) => {
      return { operation: 'connect', cause: `closed/${number}`, count: 1 };
    });
    const large = fleetHtml({ ...result, ...hourOf(60_000), errors });
    expect(Buffer.byteLength(large)).toBeLessThan(maxBytes);
    const devices = factsIn(large).devices;
    expect(devices.rows.length).toBeGreaterThan(10_000);
    expect(devices.rows.length + devices.missing).toBe(60_000);
  });

  it('compares the cohorts after an outage', () => {
    const row = { devices: 5, requests: 40, peakRequestsPerSecond: 9, requestsPerSecond: [9, 3] };
    const backoffComparison = [
      { ...row, cohort: 'full-jitter', recovered: 5, fullRecoveryMs: 1500 },
    ];
    const incidents = [{ name: 'backoff-comparison', atMs: 5000, lastingMs: 2000 }] as const;
    const { sections, course } = factsIn(
      fleetHtml({ ...result, backoffComparison, plan: { ...result.plan, incidents } }),
    );
    const backoff = sections.find(({ id }) => id === 'backoff');
    expect(backoff?.tables?.[0]?.rows[0]).toEqual(['full-jitter', '5', '5', '1.5 s', '40', '9']);
    expect(course.charts.at(-1)).toMatchObject({ seconds: [7, 8], lines: [{ values: [9, 3] }] });
    expect(html).not.toContain('Backoff comparison');
  });

  it('has tables of waiting, service and bytes, and a chart of bytes per second', () => {
    const row = { requests: 1, errors: 0, p50Ms: 1, p99Ms: 1, buckets: [] };
    const rows = [
      { ...row, startMs, sentBytes: 10, receivedBytes: 4000, devices: sampleResult.deviceCounts },
    ];
    const { sections, course } = factsIn(
      fleetHtml({ ...dividedResult, series: { widthMs: 2000, rows } }),
    );
    const tables = sections.find(({ id }) => id === 'latencies')?.tables ?? [];
    const [, waiting, service] = tables;
    expect(waiting).toMatchObject({ caption: expect.stringMatching(/^Waiting/), isClosed: true });
    expect(service?.rows[0]?.slice(0, 2)).toEqual(['post-alerts', '1.0']);
    expect(tables.at(-1)?.rows).toEqual([
      ['all', '1.2 kB', '300 B/s', '4.5 MB', '1.13 MB/s'],
      ['downloads', '', '', '4 MB', '1 MB/s'],
      ['post-alerts', '1.2 kB', '', '0 B', ''],
    ]);
    const chart = course.charts.find(({ title }) => title.startsWith('Bytes'));
    expect(chart?.lines.map(({ values }) => values)).toEqual([[5], [2000]]);
    expect(html).not.toContain('Bytes per second');
  });

  it('can show a run in which nothing happened', () => {
    const { deployedMs: _, ...without } = result;
    const series = { widthMs: 1000, rows: [] };
    const nothing = factsIn(
      fleetHtml({ ...without, devices: [], errors: [], latencies: [], stages: [], series }),
    );
    expect(JSON.stringify(nothing)).not.toMatch(/NaN|Infinity|undefined|null/);
    expect(nothing.course.charts.every(({ seconds }) => seconds.length === 0)).toBe(true);
  });

  it('starts with the load even when a simulated date is earlier', () => {
    const late = startMs + 36_000_000;
    const stages = result.stages.map((stage) => {
      return { ...stage, startMs: stage.startMs + 36_000_000, endMs: stage.endMs + 36_000_000 };
    });
    const { course } = factsIn(fleetHtml({ ...result, stages }));
    expect(course.startsAt).toBe(new Date(late).toISOString());
    expect(course.endSeconds).toBe(60);
    expect(course.marks.slice(0, 2).map(({ from, to }) => [from, to])).toEqual([
      [0, 30],
      [30, 60],
    ]);
  });
});

function factsIn(whole: string): FleetFacts {
  const [, json = ''] = /id="facts">(.*)<\/script>/.exec(whole) ?? [];
  return JSON.parse(json);
}
