import type { Page } from 'playwright';
import { beforeEach, describe, expect, it } from 'vitest';
import { browserOn } from '../../fixtures/testing/browser.ts';
import {
  accessibilityProblems,
  beginPrinting,
  overhangOf,
} from '../../fixtures/testing/page-checks.ts';
import { hostile, hostileResult } from '../testing/hostile-result.ts';
import { fleetHtml } from './html.ts';

const pages = browserOn(fleetHtml(hostileResult));
let page: Page;

beforeEach(async () => {
  page = await pages.open();
});

const rows = () => page.locator('#devices tbody tr');
const counted = () => page.locator('#devices .kit-pager span').textContent();
const range = () => page.locator('#shown-range').textContent();
const legend = (chart: number) => page.locator('.chart').nth(chart).locator('.u-legend');

/** Returns the area in which a chart is drawn, in window coordinates. */
async function plotOf(chart: number) {
  const plot = page.locator('.chart').nth(chart).locator('.u-over');
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  if (!box) throw new Error(`chart ${chart} is not drawn`);
  return { at: (share: number) => [box.x + share * box.width, box.y + box.height / 2] as const };
}

describe('the report page of a fleet', () => {
  it('starts with what decided the verdict, the worst first', async () => {
    expect(await page.locator('header .kit-verdict > strong').textContent()).toBe('Failed');
    const lines = await page.locator('#reason li').allTextContents();
    expect(lines.filter((line) => line.startsWith('failed'))).toEqual([
      expect.stringMatching(/^failed Reconciliation found 1 difference between devices and server/),
      `failed The load generator was the limit: ${hostile}`,
      `failed Threshold errors < 0.1% missed: ${hostile}`,
      expect.stringMatching(/^failed The server violated errors\.no-needless-fault 2 of 9 times/),
    ]);
    expect(lines[4]).toBe(`open Part of the fleet is unknown: shard 1 was lost (${hostile})`);
    expect(lines).toContain('ok Threshold lost reports = 0 met: 0');
  });

  it('shows the progress, and when half, nearly all and all devices were updated', async () => {
    const progress = page.locator('#progress');
    expect(await progress.locator('.bar').count()).toBe(13);
    expect(await progress.textContent()).toContain('success79 (98.8 %)');
    expect(await progress.textContent()).toContain('idle4 (5.0 %)');
    const times = await progress.locator('dd').allTextContents();
    expect(times).toEqual(['21 s', '57 s', 'never: only 98.8 % were updated']);
  });

  it('draws its charts over one time axis, including the idle devices', async () => {
    expect(await page.locator('.chart h3').allTextContents()).toEqual([
      'Requests and errors per second',
      'Latency of answered requests, from when each was due',
      'Devices by state',
      'Share of the fleet updated',
    ]);
    expect(await page.locator('.chart .report-hint').first().textContent()).toBe(
      'Highest: requests 69/s at 0:59, errors 2/s at 0:02',
    );
    const { at } = await plotOf(0);
    await page.mouse.move(...at(0.5));
    expect(await legend(0).textContent()).toMatch(/^Time.*0:30 \(2026-01-31 12:00:30 UTC\)/);
    expect(await legend(0).textContent()).toContain('requests0/s');
    expect(await legend(1).textContent()).toContain('p99–');
    expect(await legend(2).textContent()).toContain('idle50');
    expect(await legend(3).textContent()).toMatch(/updated\d/);
  });

  it.each([360, 1280])(
    'names its axes with their units at %i px, and cuts no label',
    async (width) => {
      await page.addInitScript(`
      window.drawn = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const length = this.measureText(text).width;
        const share = { right: 1, end: 1, center: 0.5 }[this.textAlign] ?? 0;
        const { e } = this.getTransform();
        const left = e + x - share * length;
        const isInside = left >= 0 && left + length <= this.canvas.width;
        window.drawn.push({ text, isInside });
        return fillText.call(this, text, x, y);
      };`);
      await page.setViewportSize({ width, height: 800 });
      await page.reload();
      const titles = page.locator('.chart .axis-title');
      expect(await titles.allTextContents()).toEqual([
        '↑ per second',
        '↑ latency in ms',
        '↑ devices',
        '↑ share of the fleet in %',
      ]);
      type Drawn = readonly { readonly text: string; readonly isInside: boolean }[];
      const drawn = () => page.evaluate<Drawn>('window.drawn');
      const below = 'time since the start of the load, in m:ss';
      await expect.poll(async () => (await drawn()).some(({ text }) => text === below)).toBe(true);
      expect((await drawn()).filter(({ isInside }) => !isInside)).toEqual([]);
    },
  );

  it('zooms all charts at once, with the pointer or by a stage or incident', async () => {
    expect(await range()).toBe('0:00 to 1:00');
    const { at } = await plotOf(0);
    await page.mouse.move(...at(0.25));
    await page.mouse.down();
    await page.mouse.move(...at(0.5), { steps: 5 });
    await page.mouse.up();
    expect(await range()).toBe('0:15 to 0:30');
    const otherPlot = await plotOf(2);
    await page.mouse.move(...otherPlot.at(0.5));
    expect(await legend(2).textContent()).toContain('0:22');
    expect(await legend(0).textContent()).toContain('0:22');
    await page.mouse.dblclick(...otherPlot.at(0.5));
    expect(await range()).toBe('0:00 to 1:00');
    await page.getByLabel('Range of the run').selectOption('incident power-cut, 0:20 to 0:30');
    expect(await range()).toBe('0:13 to 0:38');
    await page.getByLabel('Range of the run').selectOption('stage ramp, 0:00 to 0:30');
    expect(await range()).toBe('0:00 to 0:30');
    await page.getByRole('button', { name: 'Show the whole run' }).click();
    expect(await range()).toBe('0:00 to 1:00');
    expect(await page.locator('#incidents li').allTextContents()).toEqual([
      'incident power-cut, 0:20 to 0:30',
      'incident worker of shard 0 lost, 0:40',
    ]);
  });

  it('shows thresholds, checks, errors, groups, reconciliation, generator and plan', async () => {
    const text = (id: string) => page.locator(`#${id}`).textContent();
    expect(await text('thresholds')).toContain(`errors < 0.1%missed${hostile}`);
    expect(await text('checks')).toContain('errors.no-needless-faultviolated2 of 9');
    expect(await text('errors')).toContain(hostile);
    expect(await text('groups')).toContain('steady');
    expect(await text('latencies')).toContain('Stage ramp');
    expect(await text('reconciliation')).toContain('Server and fleet differ.');
    expect(await text('generator')).toContain('64 MiB');
    const plan = await text('plan');
    expect(plan).toContain('pollIntervalMs');
    expect(plan).toContain('"lost":[{"shard":1');
    expect(plan).toContain('stages[{"kind":"hold","durationMs":1000}');
    expect(plan).toContain('0.1.0v20.19.0linux 6.1 x642 x Some CPU4096 MiB2');
    expect(plan).toContain(`2 x ${hostile}`);
  });

  it('pages through the devices, failed ones first, and searches all of them', async () => {
    expect(await counted()).toBe('1 to 25 of 80 devices');
    expect(await rows().count()).toBe(25);
    expect(await rows().first().locator('.kit-badge').textContent()).toBe('failure');
    for (let turns = 0; turns < 3; turns += 1) {
      await page.getByRole('button', { name: 'Next' }).click();
    }
    expect(await counted()).toBe('76 to 80 of 80 devices');
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await page.getByLabel('Outcome').selectOption('failure');
    expect(await counted()).toBe('1 to 1 of 1 devices');
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByLabel('Words').fill('fb-77 STEADY');
    expect(await rows().count()).toBe(1);
    await page.getByLabel('Words').fill('nothing is called so');
    expect(await counted()).toBe('0 to 0 of 0 devices');
  });

  it('shows all texts from devices and servers as plain text', async () => {
    await page.locator('.chart').first().waitFor();
    for (const id of ['course', 'devices', 'checks', 'errors', 'groups', 'latencies', 'plan']) {
      expect(await page.locator(`#${id}`).textContent(), id).toContain(hostile);
    }
    const evidence = await page.locator('#checks pre').textContent();
    expect(evidence?.split(hostile).length).toBeGreaterThan(8);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(2);
    expect(await page.title()).toContain(hostile.slice(0, 20));
  });

  it('can be used with the keyboard alone', async () => {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('report-skip');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    expect(await range()).toBe('0:00 to 0:30');
    await page.getByLabel('Words').focus();
    await page.keyboard.type('failure');
    expect(await rows().count()).toBe(1);
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await counted()).toBe('1 to 25 of 80 devices');
  });

  it('is printed on white with all groups open', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await beginPrinting(page);
    const closed = page.locator('.kit-group[data-kind="section"]:not([open])');
    await expect.poll(() => closed.count()).toBe(0);
    expect(await page.locator('#plan dl').isVisible()).toBe(true);
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light');
    const chart = page.locator('.chart canvas').first();
    await expect.poll(async () => (await chart.boundingBox())?.width).toBeLessThan(700);
    expect((await page.pdf()).length).toBeGreaterThan(10_000);
  });
});

describe.each(['light', 'dark'] as const)('the report page in %s colours', (colorScheme) => {
  beforeEach(async () => {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(
      'for (const each of document.querySelectorAll("details")) each.open = true',
    );
  });

  it('fits a screen of 360 px, whatever texts devices sent', async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(colorScheme === 'dark' ? 'rgb(18, 22, 21)' : 'rgb(245, 246, 244)');
    await expect.poll(() => overhangOf(page)).toBe(0);
    const chart = page.locator('.chart canvas').first();
    await expect.poll(async () => (await chart.boundingBox())?.width).toBeLessThan(330);
  });

  it('has no problem that axe finds', { timeout: 60_000 }, async () => {
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
