import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { publish } from '../testing/test-artifacts.ts';
import { createDeployment } from '../testing/test-deployments.ts';
import { acceptedDevice, authenticate, newDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { listAssets } from './assets.ts';
import { launchBrowser, newPage, openConsole } from './testing/console-page.ts';

const FIRST_LOAD_MAX_BYTES = 150_000;

let browser: Browser;
let server: TestServer;
let page: Page;
let complaints: string[];
let foreign: string[];

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser?.close());

beforeEach(async () => {
  server = await startTestServer({ explainHeader: true });
  ({ page, complaints, foreign } = await newPage(browser, server));
});

afterEach(async () => {
  expect(foreign).toEqual([]);
  await page.close();
  await server.close();
});

const main = () => page.locator('main');

describe('the first load of the console', () => {
  it('stays below its size limits', async () => {
    const assets = await listAssets();
    const html = readFileSync(assets[0]?.file ?? '', 'utf8');
    const first = assets.filter(({ path }) => path === '/' || html.includes(`.${path}`));
    expect(first.length).toBeGreaterThan(2);
    const bytes = first.map(({ file }) => gzipSync(readFileSync(file)).length);
    const sum = bytes.reduce((all, each) => all + each, 0);
    expect(sum).toBeLessThan(FIRST_LOAD_MAX_BYTES);
  });
});

describe('logging in to the console', () => {
  it('keeps the token out of the address bar and deletes it on request', async () => {
    await openConsole(page, server);
    expect(page.url()).toBe(`${server.controlUrl}/#/`);
    await page.reload();
    await page.getByText('No deployments yet').waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Control token').waitFor();
    await page.reload();
    await page.getByLabel('Control token').waitFor();
    expect(complaints).toEqual([]);
  });

  it('refuses a wrong token with an error that names its source', async () => {
    await page.goto(`${server.controlUrl}/#token=wrong`);
    const alert = page.getByRole('alert');
    expect(await alert.textContent()).toContain('The token was refused');
    await page.getByLabel('Control token').fill(server.controlToken);
    await page.keyboard.press('Enter');
    await page.getByText('No deployments yet').waitFor();
    // The browser reports only the 401, which is expected.
    expect(complaints.every((complaint) => complaint.includes('401'))).toBe(true);
  });

  it('explains the request of a link once the token is entered', async () => {
    const { headers } = await server.request('GET', operations['get-configuration'].path, {
      headers: { 'X-SVC-RequestID': '<b>a/b</b>' },
    });
    await page.goto(headers.get('X-SVC-Testbed-Explain') ?? '');
    await page.getByLabel('Control token').fill(server.controlToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Request <b>a/b</b>' }).waitFor();
    await page.getByText('401: the Authorization header is missing').waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('the devices in the console', () => {
  it('are accepted in one action and show why one has no update', async () => {
    await authenticate(server, newDevice('FB-1'));
    await authenticate(server, newDevice('FB-2'));
    await openConsole(page, server);
    await page.getByRole('link', { name: '2 pending' }).click();
    await page.getByRole('button', { name: 'Accept all pending (2)' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).click();
    await page.getByText('Accept: 2 devices').waitFor();
    await page.getByLabel('Status').selectOption('');
    await page.getByRole('link', { name: 'FB-1' }).click();
    await page.getByText('No update: no deployment includes the device').waitFor();
    expect(complaints).toEqual([]);
  });

  it('can be searched, counted and sorted', async () => {
    for (const name of ['FB-3', 'FB-1', 'FB-2']) await authenticate(server, newDevice(name));
    await openConsole(page, server, '/devices');
    const rows = page.locator('.long-table tbody tr');
    await rows.nth(2).waitFor();
    await page.getByRole('button', { name: 'Identity' }).click();
    expect(await rows.first().textContent()).toContain('FB-1');
    await page.getByLabel('Search identity').fill('fb-2');
    await page.getByText('1 of 3 devices').waitFor();
    expect(page.url()).toContain('text=fb-2');
    await page.reload();
    await page.getByText('1 of 3 devices').waitFor();
  });

  it('are decommissioned only after a confirmation', async () => {
    const device = await acceptedDevice(server, 'FB-1');
    await openConsole(page, server, `/devices/${device.id}`);
    const dialog = page.getByRole('dialog');
    await main().getByRole('button', { name: 'Decommission' }).click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await main().getByRole('button', { name: 'Decommission' }).click();
    await dialog.getByRole('button', { name: 'Decommission' }).click();
    await page.getByText('No devices yet').waitFor();
  });
});

describe('the console page', () => {
  it('says what to do while there is no data to show', async () => {
    await openConsole(page, server);
    for (const [section, hint] of [
      ['Devices', 'No devices yet'],
      ['Deployments', 'No deployments yet'],
      ['Artifacts', 'No artifacts yet'],
      ['Journal', 'No matching entries'],
      ['Faults and variations', 'No planned faults'],
      ['States and tenants', 'No snapshots'],
    ] as const) {
      await page.getByRole('navigation').getByRole('link', { name: section }).click();
      await page.getByText(hint).waitFor();
    }
    expect(complaints).toEqual([]);
  });

  it('shows new data without a reload', async () => {
    await openConsole(page, server, '/journal');
    await page.getByText('No matching entries').waitFor();
    await authenticate(server, newDevice('FB-4'));
    await main().getByRole('link', { name: 'post-auth-request' }).click();
    await page.getByRole('heading', { name: 'post-auth-request' }).waitFor();
    await page.getByText('As a curl command').waitFor();
  });

  it('reports a lost server, keeps its content, and resumes when the server is back', async () => {
    await acceptedDevice(server, 'FB-5');
    await openConsole(page, server, '/devices');
    await page.getByRole('link', { name: 'FB-5' }).waitFor();
    await page.getByLabel('Search identity').fill('fb');
    const { port } = new URL(server.controlUrl);
    const { controlToken } = server;
    await server.close();
    await page.getByText('Disconnected, reconnecting').waitFor();
    expect(await page.getByRole('link', { name: 'FB-5' }).count()).toBe(1);
    expect(await page.getByLabel('Search identity').inputValue()).toBe('fb');
    server = await startTestServer({ controlPort: Number(port) });
    expect(server.controlToken).toBe(controlToken);
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('creates a deployment of a release', async () => {
    await publish(server, { name: 'release-2' });
    await acceptedDevice(server, 'FB-6');
    await openConsole(page, server, '/artifacts');
    await main().getByRole('link', { name: 'Deploy' }).click();
    const more = page.getByLabel('More fields as JSON');
    for (const [wrong, refusals] of [
      ['{', 0],
      ['[]', 0],
      ['{"max_devices": "many"}', 1],
    ] as const) {
      await more.fill(wrong);
      await page.getByRole('button', { name: 'Deploy' }).click();
      await page.locator('output.notice[data-tone=negative]').waitFor();
      // The browser also logs the refusal, at a time that the test does not control.
      await expect.poll(() => complaints.splice(0)).toHaveLength(refusals);
    }
    await more.fill('{"max_devices": 5, "phases": [{"batch_size": 100}]}');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.getByRole('heading', { name: 'release-2' }).waitFor();
    await page.getByText('1 pending').waitFor();
    await page.getByRole('button', { name: 'Abort' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Abort' }).click();
    await page.getByText('1 aborted').waitFor();
    expect(complaints).toEqual([]);
  });

  it('can be reached and operated by keyboard alone', async () => {
    await publish(server, { name: 'release-2' });
    const device = await acceptedDevice(server, 'FB-7');
    await createDeployment(server, [device], { artifact_name: 'release-2' });
    await openConsole(page, server);
    await page.getByText('1 pending').waitFor();
    const reached: string[] = [];
    for (let presses = 0; presses < 6; presses++) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate('document.activeElement.textContent.trim()'));
    }
    expect(reached.slice(0, 4)).toEqual([
      'Skip to the content',
      'Theme: system',
      'Log out',
      'Overview',
    ]);
    await page.getByRole('link', { name: 'Devices', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'FB-7' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Identity' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tabpanel', { name: 'Timeline' }).waitFor();
  });
});
