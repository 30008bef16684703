import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '../testing/test-artifacts.ts';
import { deploy } from '../testing/test-deployments.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { goTo, launchBrowser, newPage, openConsole } from './testing/console-page.ts';

/** More than a page of the list, and than a page of the API. */
const OF_SUITE = 520;
const PAGE_ROWS = 50;

let browser: Browser;
let server: TestServer;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
  server = await startTestServer();
  await publish(server);
  const device = await acceptedDevice(server, 'FB-1');
  for (const name of ['own older', 'own newer']) await deploy(server, [device], { name });
  for (let at = 1; at <= OF_SUITE; at += 1) {
    await deploy(server, [device], { name: `conformance-run-${at}` });
  }
  const call = { token: server.adminToken, parameters: { id: device.id } };
  await server.call('abort-device-deployments', call);
  await deploy(server, [device], { name: 'own newest' });
  ({ page } = await newPage(browser, server));
  await openConsole(page, server, '/deployments');
  await rows().first().waitFor();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const rows = () => page.locator('.kit-table tbody tr');
const names = () => rows().getByRole('link').allTextContents();

describe('the deployments in the console', () => {
  it("are listed newest first, and the conformance suite's after all others", async () => {
    const own = ['own newest', 'own newer', 'own older'];
    const [first, second] = [OF_SUITE, OF_SUITE - 1].map((at) => `conformance-run-${at}`);
    expect((await names()).slice(0, 5)).toEqual([...own, first, second]);
  });

  it('can be reached to the last one, page by page', async () => {
    const next = page.getByRole('button', { name: 'Next' });
    const all = OF_SUITE + 3;
    for (let at = 1; at * PAGE_ROWS < all; at += 1) await next.click();
    await page.getByText(`501 to ${all} of ${all} deployments`).waitFor();
    expect((await names()).at(-1)).toBe('conformance-run-1');
    expect(await next.isDisabled()).toBe(true);
  });

  it('can be searched by name and state, from any page', async () => {
    const search = page.getByLabel('Search name, artifact, ID');
    await search.fill('OWN ');
    await expect.poll(names).toEqual(['own newest', 'own newer', 'own older']);
    await page.getByLabel('Status').selectOption({ label: 'Pending' });
    await expect.poll(names).toEqual(['own newest']);
    await search.fill('no such name');
    await page.getByText('No deployments match the filters').waitFor();
    await goTo(page, '/deployments?text=own+older');
    await expect.poll(names).toEqual(['own older']);
  });

  it('show an aborted device in words, and not as a failure', async () => {
    await goTo(page, '/deployments?text=own+older');
    await rows().getByText('1 aborted').waitFor();
    expect(await rows().locator('[data-tone="negative"]').count()).toBe(0);
    await rows().getByRole('link').click();
    const state = page.locator('.long-table .kit-badge');
    expect(await state.textContent()).toBe('Aborted');
    expect(await state.getAttribute('data-tone')).toBe('plain');
  });

  it('have no state in the spelling of the API', async () => {
    await goTo(page, '/deployments');
    const choices = page.getByLabel('Status').locator('option');
    expect(await choices.allTextContents()).toEqual([
      'all statuses',
      'Pending',
      'In progress',
      'Finished',
    ]);
  });
});

describe('the audit log in the console', () => {
  it('can be read to its oldest entry, page by page', async () => {
    await goTo(page, '/audit');
    const next = page.getByRole('button', { name: 'Next' });
    await next.waitFor();
    const newest = await rows().first().textContent();
    while (!(await next.isDisabled())) {
      const firstRowText = await rows().first().textContent();
      await next.click();
      await expect.poll(() => rows().first().textContent()).not.toBe(firstRowText);
    }
    await page.getByLabel('Order').selectOption('asc');
    await expect.poll(() => page.getByText(/^1 to 100 of \d+ entries$/).count()).toBe(1);
    await page.getByLabel('Order').selectOption('desc');
    await expect.poll(() => rows().first().textContent()).toBe(newest);
  });
});
