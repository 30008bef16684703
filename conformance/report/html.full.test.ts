import type { Page } from 'playwright';
import { beforeEach, describe, expect, it } from 'vitest';
import { browserOn } from '../../fixtures/testing/browser.ts';
import { listCases } from '../conformance.ts';
import { withReproScript } from '../repro-script/repro-script.ts';
import { coverageOf } from '../result/coverage.ts';
import { observationsOf } from '../result/observations.ts';
import type { CaseVerdict } from '../result/result.ts';
import { resultOf, verdictOn } from '../testing/results.ts';
import { conformanceHtml } from './html.ts';

const hostile = `</script><script>document.title='taken'</script><img src=x onerror="document.title='taken'">'"&\u2028`;

const exchange = {
  startMs: 3,
  request: {
    line: `PUT http://host/status?x=${hostile}`,
    headers: { authorization: 'Bearer <masked:device-token>' },
    body: hostile,
  },
  answer: { status: 204, headers: { 'x-says': hostile }, body: hostile },
  elapsedMs: 3,
};

const coverage = coverageOf(listCases());

/** Every case has passed but for the first ones, which show one verdict each. */
function everyVerdict(): readonly CaseVerdict[] {
  const reason = { code: 'case-time-limit', text: hostile };
  const observation = hostile;
  const found = [
    { verdict: 'fail', expected: 'status 400', actual: hostile },
    { verdict: 'error', reason },
    { verdict: 'inconclusive', reason },
    { verdict: 'skip', reason: { code: 'operator', text: 'no operator' } },
    { verdict: 'observed', observation },
  ] as const;
  return listCases().map(({ id }, index) => {
    const times = { startedMs: 10 * index, durationMs: index % 2 === 0 ? 15 : 5 };
    const evidence = { exchanges: [exchange, exchange], exchangesDropped: 2, ...times };
    const finding = found[index];
    if (finding === undefined) return verdictOn(id, { verdict: 'pass' }, times);
    return withReproScript(verdictOn(id, finding, evidence), { baseUrl: 'http://host' });
  });
}

const verdicts = everyVerdict();
const failed = verdicts.find(({ verdict }) => verdict === 'fail');
const result = resultOf(verdicts, {
  target: { baseUrl: `http://host/${hostile}`, headerPrefix: 'X-SVC' },
  openPoints: observationsOf(verdicts),
  capabilities: [
    { capability: 'monitor', declared: 'offered', probed: 'missing', contradiction: hostile },
  ],
  leftBehind: [hostile],
});
const html = conformanceHtml(result, coverage);
const { open, url } = browserOn(html);

let page: Page;

beforeEach(async () => {
  page = await open();
});

const shown = () => page.locator('.case:visible');
const count = () => page.locator('#shown-count').textContent();

describe('the page of a run', () => {
  it('shows every verdict, the worst first', async () => {
    expect(await count()).toBe(`${verdicts.length} of ${verdicts.length} cases`);
    expect(await shown().count()).toBe(verdicts.length);
    expect(await shown().first().textContent()).toContain(failed?.id ?? 'none');
    expect(await page.locator('h1').textContent()).toBe('Conformance: fail');
  });

  it('filters by verdict, area, level and the words of a requirement', async () => {
    await page.getByRole('checkbox', { name: 'inconclusive' }).check();
    expect(await shown().count()).toBe(1);
    await page.getByRole('checkbox', { name: 'error' }).check();
    expect(await shown().count()).toBe(2);
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByLabel('Area').selectOption('monitor');
    const inArea = verdicts.filter(({ id }) => id.startsWith('monitor/')).length;
    expect(await shown().count()).toBe(inArea);
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByLabel('Level').selectOption('should');
    const should = verdicts.filter(({ level }) => level === 'should').length;
    expect(await count()).toBe(`${should} of ${verdicts.length} cases`);
    await page.getByRole('button', { name: 'Show all' }).click();
    const row = coverage.rows.find(({ id }) => id === 'auth.first-contact-is-401');
    await page.getByLabel('Words').fill(row?.sentence.toUpperCase() ?? 'none');
    expect(await shown().count()).toBe(row?.cases.length);
    await page.getByLabel('Words').fill('nothing is called so');
    expect(await count()).toBe(`0 of ${verdicts.length} cases`);
  });

  it('opens a case: requirements, both sides, exchanges, and the way to repeat it', async () => {
    const line = shown().first();
    await line.locator(':scope > summary').click();
    const inside = line.locator('.inside');
    const [required = ''] = failed?.requirements ?? [];
    const sentence = coverage.rows.find(({ id }) => id === required)?.sentence;
    const text = await inside.textContent();
    for (const part of [sentence, required, 'status 400', '2 earlier exchanges', 'curl -sS -i']) {
      expect(text).toContain(part);
    }
    expect(await inside.locator('.exchange pre').first().isVisible()).toBe(false);
    await inside.locator('.exchange > summary').first().click();
    expect(await inside.locator('.exchange pre').first().isVisible()).toBe(true);
    expect(await inside.locator('.exchange pre').nth(1).textContent()).toContain('204');
  });

  it('opens the case that a link names', async () => {
    const id = verdicts.at(-1)?.id ?? '';
    await page.goto('about:blank');
    await page.goto(`${url}#${id}`);
    const line = page.locator(`[id="case-${id}"]`);
    await line.locator('.inside').waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
  });

  it('keeps whatever the target said text', async () => {
    for (const line of await shown().all()) {
      if ((await line.locator('.mark').textContent()) === 'pass') break;
      await line.locator(':scope > summary').click();
    }
    expect(await page.locator('#verdict-list').textContent()).toContain(hostile);
    for (const name of ['Open points', 'Run', 'Coverage', 'Timeline']) {
      await page.getByRole('tab', { name }).click();
    }
    expect(await page.locator('#run').textContent()).toContain(hostile);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toContain(hostile.slice(0, 20));
    expect(await page.locator('script').count()).toBe(2);
  });

  it('has a tab for time, coverage, open points and the run', async () => {
    await page.getByRole('tab', { name: 'Timeline' }).click();
    expect(await page.locator('#timeline rect').count()).toBe(verdicts.length);
    const lanes = await page.locator('#timeline rect').evaluateAll((bars) => {
      return bars.map((bar) => bar.getAttribute('y'));
    });
    expect(new Set(lanes).size).toBe(2);
    expect(await page.locator('#timeline tbody tr').count()).toBe(20);
    await page.getByRole('tab', { name: 'Coverage' }).click();
    expect(await page.locator('#coverage tbody tr').count()).toBe(coverage.rows.length);
    await page.getByRole('tab', { name: 'Open points' }).click();
    expect(await page.locator('#open-points tbody tr').count()).toBe(result.openPoints.length);
    expect(await page.locator('#verdicts').isVisible()).toBe(false);
    await page.getByRole('tab', { name: 'Run' }).click();
    const run = await page.locator('#run').textContent();
    for (const part of ['a seed', '20.19.0', 'monitor', 'offered', 'missing']) {
      expect(run).toContain(part);
    }
  });

  it('works by keyboard alone', async () => {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('skip');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('#timeline').isVisible()).toBe(true);
    await page.keyboard.press('End');
    expect(await page.locator('#run').isVisible()).toBe(true);
    await page.keyboard.press('Home');
    await page.keyboard.press('Tab');
    await page.keyboard.type('first contact');
    expect(await shown().count()).toBeLessThan(verdicts.length);
    expect(await page.evaluate('document.activeElement.id')).toBe('words');
    await page.keyboard.press('Escape');
    for (let presses = 0; presses < 20; presses += 1) {
      if ((await page.evaluate('document.activeElement.tagName')) === 'SUMMARY') break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.locator('.inside').first().waitFor();
  });

  it.each(['light', 'dark'] as const)('fits a small screen in %s colours', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 390, height: 800 });
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(colorScheme === 'dark' ? 'rgb(22, 24, 28)' : 'rgb(255, 255, 255)');
    await shown().first().locator(':scope > summary').click();
    for (const name of ['Verdicts', 'Timeline', 'Open points', 'Run']) {
      await page.getByRole('tab', { name }).click();
      const overhang =
        'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(overhang)).toBe(0);
    }
  });
});

describe('the file', () => {
  it('may load nothing and run only its own script', () => {
    const [, policy = ''] =
      /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+';/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<\/script>/g)).toHaveLength(2);
  });

  it('stays of a size that can be sent around, however much evidence there is', () => {
    const long = { ...exchange, answer: { ...exchange.answer, body: '"'.repeat(4096) } };
    const exchanges = Array.from({ length: 40 }, () => long);
    const reproScript = 'x'.repeat(50_000);
    const all = listCases().map(({ id }) =>
      verdictOn(
        id,
        { verdict: 'fail', expected: 'x', actual: 'y' },
        { exchanges, byHand: reproScript },
      ),
    );
    const worst = conformanceHtml(resultOf(all), coverage);
    expect(Buffer.byteLength(worst)).toBeLessThan(4_000_000);
    expect(Buffer.byteLength(html)).toBeLessThan(1_000_000);
  });
});
