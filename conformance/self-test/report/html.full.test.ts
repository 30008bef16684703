import type { Page } from 'playwright';
import { beforeEach, describe, expect, it } from 'vitest';
import { browserOn } from '../../../fixtures/testing/browser.ts';
import type { KillMatrix, MatrixRow } from '../matrix.ts';
import { matrixHtml } from './html.ts';

const hostile = `</script><script>document.title='taken'</script><img src=x onerror="document.title='taken'">'"&\u2028`;

function row(id: string, more: Partial<MatrixRow>): MatrixRow {
  return {
    id,
    title: `The defect ${id} is planted.`,
    violates: ['audit.total'],
    outcome: 'killed',
    killedBy: [`audit-log/kills-${id}`],
    proves: ['audit.total'],
    falseFailures: [],
    alsoViolates: [],
    suiteErrors: [],
    casesRun: 7,
    untouched: 600,
    changes: 3,
    ...more,
  };
}

const rows = [
  row('first', { killedBy: ['audit-log/one', 'audit-log/two', 'monitor/three'] }),
  row('second', { violates: ['auth.first-contact-is-401'] }),
  row('lives', { outcome: 'survived', killedBy: [], proves: [] }),
  row('unseen', { outcome: 'equivalent', killedBy: [], equivalent: hostile }),
  row('wrongly', {
    title: hostile,
    falseFailures: [{ caseId: 'errors/too-eager', requirements: ['audit.total'] }],
  }),
];

const matrix: KillMatrix = {
  cases: 607,
  baselineFailures: [hostile],
  totals: {
    defects: 5,
    killed: 3,
    survived: 1,
    unexercised: 0,
    equivalent: 1,
    'stale-reason': 0,
    falseFailures: 1,
    suiteErrors: 0,
    casesRun: 35,
    untouched: 3000,
  },
  untestedDuties: [],
  unproven: ['audit.total'],
  rows,
  interrupted: false,
};

const { open } = browserOn(matrixHtml(matrix, true));
let page: Page;

beforeEach(async () => {
  page = await open();
});

const visibleRows = () => page.locator('tbody tr:visible');
const count = () => page.locator('output').textContent();

describe('the HTML page of a kill matrix', () => {
  it('shows each defect with its outcome and the number of kills by area', async () => {
    expect(await count()).toBe('5 of 5 defects');
    expect(await page.locator('p').first().textContent()).toContain('1 survived');
    const heads = await page.locator('thead th').allTextContents();
    expect(heads).toEqual(['Defect', 'Outcome', 'audit-log', 'errors', 'monitor', 'Run']);
    const cells = await visibleRows().first().locator('td').allInnerTexts();
    expect(cells.map((text) => text.trim())).toEqual(['killed', '2', '', '1', '7']);
  });

  it('filters by the words of a defect, requirement or case, and by outcome', async () => {
    const filter = page.getByLabel('Filter');
    await filter.fill('MONITOR/THREE');
    expect(await count()).toBe('1 of 5 defects');
    await filter.fill('auth.first-contact-is-401');
    expect(await visibleRows().locator('summary code').allTextContents()).toEqual(['second']);
    await filter.fill('');
    await page.getByLabel('Outcome').selectOption('survived');
    expect(await visibleRows().locator('summary code').allTextContents()).toEqual(['lives']);
    await filter.fill('nothing is called so');
    expect(await count()).toBe('0 of 5 defects');
    expect(await visibleRows().count()).toBe(0);
  });

  it('shows the requirement of an opened defect, and the cases of a count', async () => {
    const line = visibleRows().first();
    await line.locator('th summary').click();
    expect(await line.locator('th li').textContent()).toMatch(/^audit\.total \S+ \S+/);
    await line.locator('td summary').first().click();
    expect(await line.locator('td li').allInnerTexts()).toEqual(
      expect.arrayContaining(['audit-log/one', 'audit-log/two']),
    );
    const wrong = visibleRows().last();
    await wrong.locator('td summary', { hasText: '1 false' }).click();
    expect(await wrong.locator('td li.unsound').textContent()).toBe(
      'errors/too-eager false failure',
    );
  });

  it('can be used with the keyboard alone', async () => {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.name')).toBe('text');
    await page.keyboard.type('first');
    await page.keyboard.press('Enter');
    // The defect "second" violates auth.first-contact-is-401, whose name matches too.
    expect(await count()).toBe('2 of 5 defects');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.name')).toBe('outcome');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('scroll');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await visibleRows().first().locator('th li').isVisible()).toBe(true);
  });

  it('shows titles and reasons as text, never as markup', async () => {
    expect(await page.title()).toBe('Fleetbed conformance: self-test');
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(1);
    expect(await page.locator('tbody').textContent()).toContain(hostile);
    expect(await page.locator('ul.unsound').textContent()).toContain(hostile);
  });

  it.each(['light', 'dark'] as const)('fits a small screen in %s colours', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 390, height: 800 });
    const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overhang)).toBe(0);
  });
});
