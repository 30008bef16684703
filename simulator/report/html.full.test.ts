import type { Page } from 'playwright';
import { beforeEach, describe, expect, it } from 'vitest';
import { browserOn } from '../../fixtures/testing/browser.ts';
import type { FleetResult } from '../result/result.ts';
import {
  deviceRowOf,
  differenceOf,
  sampleMachine,
  sampleResult,
} from '../testing/sample-result.ts';
import { fleetHtml } from './html.ts';

const hostile = `</script><script>document.title='taken'</script><img src=x onerror="document.title='taken'">'"&\u2028`;
const startMs = Date.parse(sampleResult.startedAt);
const nobody = { waiting: 0, idle: 0, updating: 0, done: 0, failed: 0, silent: 0 };

const devices = Array.from({ length: 20 }, (_, index) => {
  const endedMs = startMs + 1000 * (index + 1);
  if (index === 19) return deviceRowOf(index, { outcome: 'failure', behaviour: hostile });
  return deviceRowOf(index, { outcome: 'success', offeredMs: startMs, endedMs });
});

const result: FleetResult = {
  ...sampleResult,
  plan: {
    ...sampleResult.plan,
    baseUrl: `http://host/${hostile}`,
    stages: Array.from({ length: 9 }, () => ({ kind: 'hold', durationMs: 1000 })),
  },
  machines: [
    { ...sampleMachine, processes: 2 },
    { ...sampleMachine, cpuModel: hostile },
  ],
  seed: hostile,
  deployedMs: startMs,
  validity: 'invalid',
  generator: { ...sampleResult.generator, reasons: [hostile] },
  thresholds: [
    { threshold: 'errors < 0.1%', verdict: 'missed', observed: '3%' },
    { threshold: 'lost reports = 0', verdict: 'met', observed: '0' },
  ],
  funnel: { ...sampleResult.funnel, devices: 20, offered: 20, success: 19, failure: 1 },
  balance: { ...sampleResult.balance, ok: false, differences: [differenceOf(3, hostile)] },
  series: {
    widthMs: 1000,
    rows: [0, 1, 2].map((row) => ({
      startMs: startMs + 1000 * row,
      requests: 10 + row,
      errors: row,
      p50Ms: 5,
      p99Ms: 50 + row,
      buckets: [],
      devices: { ...nobody, updating: 20 - row, done: row },
    })),
  },
  errors: [{ operation: 'connect', cause: hostile, count: 2 }],
  spread: { takeovers: [], lost: [{ shard: 1, because: hostile }] },
  devices,
};

const html = fleetHtml(result);
const pages = browserOn(html);
let page: Page;

beforeEach(async () => {
  page = await pages.open();
});

const shown = () => page.locator('#device-list tbody tr:visible').count();
const counted = () => page.locator('#shown-count').textContent();

describe('the page of a fleet', () => {
  it('shows the funnel, and when half, nearly all and all were updated', async () => {
    const funnel = page.getByRole('img', { name: 'Progress of 20 devices' });
    expect(await funnel.locator('rect').count()).toBe(12);
    expect(await funnel.textContent()).toContain('19 (95.0 %)');
    const times = await page.locator('#update-times dd').allTextContents();
    expect(times).toEqual(['10 s', '19 s', 'never: 95.0 % were updated']);
  });

  it('draws latency, requests and devices over time', async () => {
    const charts = page.locator('#over-time svg');
    expect(await charts.count()).toBe(3);
    for (const path of await page.locator('path.line').all()) {
      expect(await path.getAttribute('d')).toMatch(/^M[\d.]+ [\d.]+([LHV][\d. ]+)+$/);
    }
    expect(await page.locator('#over-time .legend').allTextContents()).toContain('p99');
  });

  it('shows thresholds, errors, groups, reconciliation, generator and plan', async () => {
    const text = (id: string) => page.locator(`#${id}`).textContent();
    expect(await text('thresholds')).toContain('errors < 0.1%missed3%');
    expect(await text('errors')).toContain('connect');
    expect(await text('groups')).toContain('steady');
    expect(await text('reconciliation')).toContain('Server and fleet differ.');
    expect(await text('generator')).toContain('64 MiB');
    expect(await text('plan')).toContain('pollIntervalMs');
    expect(await text('plan')).toContain('"lost":[{"shard":1');
    expect(await text('plan')).toContain('stages[{"kind":"hold","durationMs":1000}');
    expect(await text('plan')).toContain('0.1.0v20.19.0linux 6.1 x642 x Some CPU4096 MiB2');
    expect(await text('plan')).toContain(`2 x ${hostile}`);
    expect(await page.locator('header .mark').allTextContents()).toEqual([
      'invalid figures',
      'reconciliation differs',
      '1 of 2 thresholds met',
    ]);
  });

  it('lists what failed first, and filters by words and outcome', async () => {
    expect(await counted()).toBe('20 of 20 devices');
    const first = page.locator('#device-list tbody tr').first();
    expect(await first.locator('.outcome').textContent()).toBe('failure');
    await page.getByLabel('Outcome').selectOption('failure');
    expect(await shown()).toBe(1);
    await page.getByRole('button', { name: 'Show all' }).click();
    expect(await counted()).toBe('20 of 20 devices');
    await page.getByLabel('Words').fill('fb-7 STEADY');
    expect(await shown()).toBe(1);
    await page.getByLabel('Words').fill('nothing is called so');
    expect(await counted()).toBe('0 of 20 devices');
  });

  it('keeps whatever devices and servers have said text', async () => {
    expect(await page.locator('body').textContent()).toContain(hostile);
    expect(await page.locator('#errors').textContent()).toContain(hostile);
    expect(await page.locator('#device-list').textContent()).toContain(hostile);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(1);
    expect(await page.title()).toContain(hostile.slice(0, 20));
  });

  it('works by keyboard alone', async () => {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('skip');
    for (let presses = 0; presses < 30; presses += 1) {
      if ((await page.evaluate('document.activeElement.id')) === 'words') break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type('failure');
    expect(await shown()).toBe(1);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await counted()).toBe('20 of 20 devices');
  });

  it.each(['light', 'dark'] as const)('fits a small screen in %s colours', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 390, height: 800 });
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(colorScheme === 'dark' ? 'rgb(22, 24, 28)' : 'rgb(255, 255, 255)');
    const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overhang)).toBe(0);
  });
});

describe('the file', () => {
  it('may load nothing and run only its own script', () => {
    const [, policy = ''] =
      /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+';/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html.match(/<script/g)).toHaveLength(1);
  });

  it('stays of a size that can be sent around, however large the fleet', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => deviceRowOf(index));
    const errors = Array.from({ length: 5000 }, (_, number) => {
      return { operation: 'connect', cause: `closed/${number}`, count: 1 };
    });
    const large = fleetHtml({ ...result, devices: many, errors });
    expect(Buffer.byteLength(large)).toBeLessThan(2_000_000);
    expect(large).toContain('18000 more devices are in the JSON report.');
  });

  it('compares the cohorts after an outage', () => {
    const row = { devices: 5, requests: 40, peakRequestsPerSecond: 9, requestsPerSecond: [9, 3] };
    const herd = [{ ...row, cohort: 'full-jitter', recovered: 5, fullRecoveryMs: 1500 }];
    const compared = fleetHtml({ ...result, herd });
    expect(compared).toContain('Backoff comparison</h2>');
    expect(compared).toContain(
      '<th scope="row">full-jitter</th><td>5</td><td>5</td><td>1.5 s</td>',
    );
    expect(compared).toContain('Requests per second since the network returned');
    expect(html).not.toContain('Backoff comparison');
  });

  it('shows a run in which nothing happened', () => {
    const { deployedMs: _, ...without } = result;
    const series = { widthMs: 1000, rows: [] };
    const nothing = fleetHtml({ ...without, devices: [], errors: [], latencies: [], series });
    expect(nothing).toContain('nothing to show');
    expect(nothing).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('leaves a gap in its lines for a second in which nothing was asked', () => {
    const silent = { requests: 0, errors: 0, p50Ms: 0, p99Ms: 0 };
    const rows = result.series.rows.map((row, at) => (at === 1 ? { ...row, ...silent } : row));
    const gapped = fleetHtml({ ...result, series: { widthMs: 1000, rows } });
    expect(gapped).not.toMatch(/NaN|Infinity|undefined/);
    expect(gapped).toMatch(/d="M[\d.]+ [\d.]+M[\d.]+ [\d.]+"/);
  });
});
