import type { Page } from 'playwright';
import { beforeEach, describe, expect, it } from 'vitest';
import { browserOn } from '../../fixtures/testing/browser.ts';
import {
  accessibilityProblems,
  beginPrinting,
  overhangOf,
} from '../../fixtures/testing/page-checks.ts';
import { compareReports } from '../result/compare.ts';
import {
  coverage,
  earlierResult,
  failedVerdict,
  hostile,
  result,
  verdicts,
  violation,
  waived,
} from '../testing/hostile-result.ts';
import { conformanceHtml } from './html.ts';

const schemes = ['light', 'dark'] as const;
const failedId = failedVerdict?.id ?? '';
const html = conformanceHtml(result, coverage, compareReports(earlierResult, result));
const { open, url } = browserOn(html);

let page: Page;

beforeEach(async () => {
  page = await open();
});

const visibleCases = () => page.locator('.case:visible');
const count = () => page.locator('#shown-count').textContent();
const tab = (name: string) => page.getByRole('tab', { name }).click();
const showAll = () => page.getByRole('button', { name: 'Show all' }).click();
const caseLine = (id: string) => page.locator(`[id="case-${id}"]`);

describe('the HTML page of a run', () => {
  it('shows at the top why the run failed, with each MUST that failed', async () => {
    const top = page.locator('header .kit-verdict');
    const levelOf = new Map(coverage.rows.map(({ id, level }) => [id, level]));
    const named = [...(failedVerdict?.requirements ?? []), ...violation.requirements];
    const musts = [...new Set(named)].filter((id) => levelOf.get(id) === 'must');
    const words = `${musts.length} MUST${musts.length === 1 ? '' : 's'} failed`;
    expect(await top.locator('strong').textContent()).toBe(`Failed: ${words}`);
    const text = await top.textContent();
    for (const part of [result.headline, ...musts, failedId, hostile, 'fail 2', 'pass 1']) {
      expect(text).toContain(part);
    }
    expect((await top.boundingBox())?.y).toBeLessThan(150);
  });

  it('groups the cases by area with counts, and opens only inconclusive and failed ones', async () => {
    expect(await count()).toBe(`${verdicts.length} of ${verdicts.length} cases`);
    const areas = new Set(verdicts.map(({ id }) => id.split('/')[0]));
    expect(await page.locator('#verdicts > .kit-group').count()).toBe(areas.size);
    const firstGroup = page.locator('#verdicts > .kit-group').first();
    expect(await firstGroup.locator('> summary').textContent()).toContain('1 fail');
    expect(await visibleCases().count()).toBe(3);
    expect(await visibleCases().first().locator('summary').textContent()).toContain(
      `expected status 400, actual ${hostile}`,
    );
    await page.getByText('errors', { exact: true }).click();
    expect(await caseLine(waived).isVisible()).toBe(true);
  });

  it('filters the cases by verdict, level, requirement and words', async () => {
    await page.getByRole('checkbox', { name: 'inconclusive' }).check();
    expect(await visibleCases().count()).toBe(1);
    await page.getByRole('checkbox', { name: 'error' }).check();
    expect(await visibleCases().count()).toBe(2);
    await showAll();
    await page.getByLabel('Level').selectOption('should');
    const should = verdicts.filter(({ level }) => level === 'should').length;
    expect(await count()).toBe(`${should} of ${verdicts.length} cases`);
    await showAll();
    const row = coverage.rows.find(({ id }) => id === 'auth.first-contact-is-401');
    await page.getByLabel('Requirement').fill('auth.first-contact-is-401');
    expect(await visibleCases().count()).toBe(row?.cases.length);
    await showAll();
    await page.getByLabel('Words').fill(row?.sentence.toUpperCase() ?? 'none');
    expect(await visibleCases().count()).toBe(row?.cases.length);
    await page.getByLabel('Words').fill('nothing is called so');
    expect(await count()).toBe(`0 of ${verdicts.length} cases`);
    expect(await page.getByText('No case matches these filters.').isVisible()).toBe(true);
  });

  it('shows requirements, both sides, exchanges and repro script of an opened case', async () => {
    await caseLine(failedId).locator('> summary').click();
    const inside = caseLine(failedId).locator('.inside');
    const [required = ''] = failedVerdict?.requirements ?? [];
    const sentence = coverage.rows.find(({ id }) => id === required)?.sentence ?? 'none';
    const text = await inside.textContent();
    const parts = [required, 'status 400', '2 earlier exchanges', 'curl -sS -i', 'get-device'];
    for (const part of [sentence.replaceAll('`', ''), ...parts]) expect(text).toContain(part);
    const headings = await inside.locator('h3').allTextContents();
    expect(headings).toEqual(['Requirements', 'Exchanges', 'Repro script']);
    const exchanges = inside.locator('.kit-group');
    expect(await exchanges.first().locator('pre').first().isVisible()).toBe(false);
    await exchanges.first().locator('> summary').click();
    expect(await exchanges.first().locator('pre').first().isVisible()).toBe(true);
    expect(await exchanges.first().locator('pre').nth(1).textContent()).toContain('204');
  });

  it('copies the link, the command and the repro script of a case', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await caseLine(failedId).locator('> summary').click();
    const copied = async (name: string): Promise<string> => {
      await page.evaluate('navigator.clipboard.writeText("")');
      await caseLine(failedId).getByRole('button', { name }).click();
      const held = () => page.evaluate<string>('navigator.clipboard.readText()');
      await expect.poll(held).not.toBe('');
      return held();
    };
    expect(await copied('Copy link')).toBe(`${url}#${failedId}`);
    const command = await copied('Copy command');
    expect(command).toMatch(/^npx fleetbed conform --url \$'http:\/\/host\//);
    const seed = hostile.replaceAll("'", "\\'").replace('\u2028', '\\342\\200\\250');
    expect(command).toContain(`--seed $'${seed}'`);
    expect(command.endsWith(` ${failedId}`)).toBe(true);
    expect(await copied('Copy repro script')).toBe(failedVerdict?.reproScript);
  });

  it('opens the linked case even if a filter or a closed group hides it', async () => {
    const id = verdicts.at(-1)?.id ?? '';
    await page.goto('about:blank');
    await page.goto(`${url}#${id}`);
    await caseLine(id).locator('.inside').waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
    await page.getByLabel('Words').fill('nothing is called so');
    await page.locator('header .kit-verdict a').first().click();
    await caseLine(failedId).locator('.inside').waitFor();
    await tab('Coverage');
    expect(page.url()).toBe(`${url}#coverage`);
    await page.reload();
    expect(await page.locator('#coverage').isVisible()).toBe(true);
  });

  it('shows the changes since an earlier run', async () => {
    const changes = page.locator('#changes');
    const words = await changes.locator('> summary').textContent();
    expect(words).toContain('Since the earlier run: 1 regression, 1 fixed, 1 new');
    const rows = changes.locator('tbody tr');
    expect(await rows.count()).toBe(2);
    expect(await rows.first().textContent()).toContain(`regression${failedId}pass`);
    await page.getByLabel('Since the earlier run').selectOption('fixed');
    expect(await visibleCases().count()).toBe(1);
    await visibleCases().first().locator('> summary').click();
    await visibleCases().first().locator('.inside').waitFor();
    expect(await visibleCases().first().textContent()).toContain(`fail: ${hostile}`);
  });

  it('shows all text of the target as text, never as markup', async () => {
    await page.locator('#verdicts').waitFor();
    for (const { id } of [...verdicts.slice(0, 5), { id: waived }]) {
      await page.evaluate(`location.assign('#${id}')`);
      await caseLine(id).locator('.inside').waitFor();
      expect(await caseLine(id).textContent()).toContain(hostile);
    }
    expect(await page.locator('#changes').textContent()).toContain(hostile);
    for (const name of ['Open points', 'Coverage', 'Timeline', 'Run']) await tab(name);
    const run = await page.locator('#run').textContent();
    expect(run?.split(hostile).length).toBeGreaterThan(6);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toContain(hostile.slice(0, 20));
    expect(await page.locator('script').count()).toBe(2);
  });

  it('has tabs for the timeline, the coverage, the open points and the run', async () => {
    await tab('Timeline');
    expect(await page.locator('#timeline rect').count()).toBe(verdicts.length);
    const lanes = await page.locator('#timeline rect').evaluateAll((bars) => {
      return bars.map((bar) => bar.getAttribute('y'));
    });
    expect(new Set(lanes).size).toBe(2);
    const legend = page.locator('#timeline .legend li');
    const counts = new Map<string, number>();
    for (const { verdict, durationMs } of verdicts) {
      if (durationMs > 0) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    }
    expect((await legend.allTextContents()).toSorted()).toEqual(
      [...counts].map(([verdict, count]) => ` ${verdict} (${count})`).sort(),
    );
    const ticks = await page.locator('#timeline .axis li').allTextContents();
    expect(ticks[0]).toMatch(/^0 (ms|s)$/);
    expect(ticks.length).toBeGreaterThan(2);
    await page.getByText('Time since the start of the run', { exact: true }).waitFor();
    expect(await page.locator('#timeline tbody tr').count()).toBe(20);
    await tab('Coverage');
    expect(await page.locator('#coverage .requirement').count()).toBe(coverage.rows.length);
    await page.getByLabel('In this run').selectOption('failed');
    expect(await page.locator('#coverage .requirement:visible').first().textContent()).toContain(
      'failed',
    );
    await tab('Open points');
    expect(await page.locator('#open-points .kit-card').count()).toBe(result.openPoints.length);
    expect(await page.locator('#verdicts').count()).toBe(0);
    await tab('Run');
    const run = await page.locator('#run').textContent();
    for (const part of ['20.19.0', 'monitor', 'offered', 'missing']) expect(run).toContain(part);
  });

  it.each([1280, 360])('breaks no word of the coverage into letters at %i px', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    await tab('Coverage');
    await page.getByLabel('Words').fill('-');
    const narrow = await page.locator('.requirement code').evaluateAll((words) =>
      words.flatMap((word) => {
        const text = word.textContent ?? '';
        return word.getClientRects().length > Math.ceil(text.length / 20) ? [text] : [];
      }),
    );
    expect(await page.locator('.requirement:visible').count()).toBeGreaterThan(100);
    expect(narrow).toEqual([]);
  });

  it('can be used with the keyboard alone', async () => {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('report-skip');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Cases' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('#timeline').isVisible()).toBe(true);
    await page.keyboard.press('End');
    expect(await page.locator('#run').isVisible()).toBe(true);
    await page.keyboard.press('Home');
    await page.keyboard.press('Tab');
    await page.keyboard.type('first contact');
    expect(await visibleCases().count()).toBeLessThan(verdicts.length);
    for (let presses = 0; presses < 30; presses += 1) {
      if (await page.evaluate('document.activeElement.parentElement.className === "case"')) break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.locator('.case .inside').first().waitFor();
  });

  it('is printed with all groups open and with failed cases in full', async () => {
    await beginPrinting(page);
    await expect.poll(() => visibleCases().count()).toBe(verdicts.length);
    expect(await caseLine(failedId).locator('.inside').isVisible()).toBe(true);
    expect(await page.locator('form').isVisible()).toBe(false);
    expect((await page.pdf()).length).toBeGreaterThan(10_000);
  });
});

describe.each(schemes)('the HTML page of a run in %s colours', (colorScheme) => {
  const views = ['Cases', 'Timeline', 'Coverage', 'Open points', 'Run'];

  beforeEach(async () => {
    await page.emulateMedia({ colorScheme });
    await caseLine(failedId).locator('> summary').click();
    await caseLine(failedId).locator('.kit-group > summary').first().click();
  });

  it('fits a screen of 360 px, whatever the target answered', async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(colorScheme === 'dark' ? 'rgb(18, 22, 21)' : 'rgb(245, 246, 244)');
    for (const name of views) {
      await tab(name);
      expect(await overhangOf(page), name).toBe(0);
    }
  });

  it('has no accessibility problem that axe detects', { timeout: 60_000 }, async () => {
    for (const name of views) {
      await tab(name);
      expect(await accessibilityProblems(page), name).toEqual([]);
    }
  });
});
