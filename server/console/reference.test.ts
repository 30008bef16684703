import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import {
  expectAccessible,
  expectNoOverhang,
  launchBrowser,
  newPage,
  openConsole,
} from './testing/console-page.ts';

let browser: Browser;
let server: TestServer;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await launchBrowser();
  server = await startTestServer();
  ({ page, complaints } = await newPage(browser, server));
});

afterAll(async () => {
  expect(complaints).toEqual([]);
  await browser?.close();
  await server?.close();
});

describe('the reference in the console', () => {
  it('finds an operation by words, and shows its requirements', async () => {
    await openConsole(page, server, '/reference');
    await page.getByLabel('Path or words').fill('put-deployment-status');
    await page.getByRole('link', { name: /^PUT .*\/status$/ }).click();
    await page.getByText('status.is-required').waitFor();
    expect(await page.locator('pre').first().innerText()).toContain('"status": "installing"');
    await expectAccessible(page, 'reference');
    await expectNoOverhang(page, 'reference');
  });

  it('says that an unknown operation does not exist', async () => {
    await openConsole(page, server, '/reference/%3Cb%3Ebold');
    await page.getByText('There is no operation <b>bold').waitFor();
  });
});
