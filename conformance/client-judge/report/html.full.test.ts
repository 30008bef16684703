import type { Page } from 'playwright';
import { beforeEach, describe, expect, it } from 'vitest';
import { browserOn } from '../../../fixtures/testing/browser.ts';
import { accessibilityProblems, overhangOf } from '../../../fixtures/testing/page-checks.ts';
import { hostile, sampleClientTest } from '../testing/sample-client-test.ts';
import { clientTestHtml } from './html.ts';

const { open } = browserOn(clientTestHtml(sampleClientTest));

let page: Page;
beforeEach(async () => {
  page = await open();
});

describe('the HTML page of a client test', () => {
  it('shows the verdict first, with each broken duty and the counts that it lists', async () => {
    const top = page.locator('header .kit-verdict');
    expect(await top.locator('strong').textContent()).toBe(sampleClientTest.headline);
    const text = (await top.textContent()) ?? '';
    for (const part of ['auth.renews-on-401', '(waived)', '2 broken', '1 not-tested', '1 met'])
      expect(text).toContain(part);
    expect((await top.boundingBox())?.y).toBeLessThan(150);
  });

  it('opens broken duties with the exchange and the session that show it, and closes waived ones', async () => {
    const duty = page.locator('[id="auth.renews-on-401"]');
    expect(await duty.getAttribute('open')).not.toBeNull();
    expect(await page.locator('[id="http.backoff"]').getAttribute('open')).toBeNull();
    await duty.getByText('What happened in the scene').click();
    expect(await duty.locator('mark').textContent()).toContain('-> 401');
    expect(await duty.textContent()).toContain('And 2 more of the same.');
  });

  it('shows the offending exchange in a sequence of requests and answers', async () => {
    const sequence = page.locator('[id="auth.renews-on-401"]').getByRole('list', {
      name: 'Sequence of the exchanges',
    });
    const marked = sequence.locator('.marked');
    expect(await marked.locator('.response').textContent()).toMatch(/^401/);
    expect(await marked.isVisible()).toBe(true);
  });

  it('shows text of the client as text, and a cut that ended falsely', async () => {
    expect(await page.textContent('main')).toContain(hostile);
    expect(await page.locator('img').count()).toBe(0);
    const cuts = page.locator('table', { hasText: 'at half of the download' });
    expect(await cuts.textContent()).toContain('false');
  });

  it.each([360, 1200])(
    'has no accessibility problem and no horizontal overflow at %i pixels',
    async (width) => {
      await page.setViewportSize({ width, height: 900 });
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(await overhangOf(page)).toBeLessThanOrEqual(0);
    },
  );
});
