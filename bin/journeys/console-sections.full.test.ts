import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import {
  expectAccessible,
  expectNoOverhang,
  goTo,
  launchBrowser,
  newPage,
  openConsole,
  readableTexts,
} from '../../server/console/testing/console-page.ts';
import { type RunningCommand, startCommand } from '../testing/built-command.ts';
import { releaseName, type ServedRelease, serveRelease } from '../testing/served-release.ts';

const DEVICES = 200;

let browser: Browser;
let served: ServedRelease;
let fleet: RunningCommand;
let deploymentId: string;

beforeAll(async () => {
  browser = await launchBrowser();
  served = await serveRelease();
  const { baseUrl, adminToken } = served.ready;
  fleet = startCommand([
    ...['simulate', '--url', baseUrl, '--token', adminToken, '--accept', '--connect'],
    ...['--devices', String(DEVICES), '--seed', 'console', '--poll', '3s', '--ramp', '3s'],
    ...['--keys', 'ecdsa=1,ed25519=1', '--behaviour', 'steady=8', '--behaviour', 'slow=1'],
    ...['--behaviour', 'alert-storm=1'],
  ]);
  await fleet.waitForOutput('stderr', /200 sockets/);
  const body = JSON.stringify({ name: 'Spring', artifact_name: releaseName, all_devices: true });
  const path = pathOf(managementOperations['create-deployment']);
  const headers = { 'Content-Type': 'application/json' };
  const made = await served.manage(path, { method: 'POST', headers, body });
  deploymentId = made.headers.get('Location')?.split('/').at(-1) ?? '';
}, 120_000);

afterAll(async () => {
  await browser?.close();
  fleet?.child.kill('SIGKILL');
  await served?.running.end();
});

/** A section of the console with its address and the text that it shows once loaded. */
interface ConsoleSection {
  readonly name: string;
  readonly address: () => string;
  readonly shows: RegExp;
}

let deviceId = '';
const device = (tab: string) => `/devices/${deviceId}?tab=${tab}`;
const sections: readonly ConsoleSection[] = [
  { name: 'overview', address: () => '/', shows: /^[1-9]\d* requests and/ },
  { name: 'devices', address: () => '/devices', shows: /200 devices/ },
  { name: 'deployments', address: () => '/deployments', shows: /Spring/ },
  {
    name: 'deployment',

    address: () => `/deployments/${deploymentId}`,
    shows: /Progress/,
  },
  { name: 'artifacts', address: () => '/artifacts', shows: /release-2/ },
  { name: 'journal', address: () => '/journal', shows: /next-deployment/ },
  { name: 'clients', address: () => '/clients', shows: /Duties over all clients/ },
  { name: 'client', address: () => `/clients/${deviceId}`, shows: /broken, \d+ open/ },
  { name: 'doctor', address: () => '/doctor', shows: /Refused authentication requests/ },
  { name: 'audit', address: () => '/audit', shows: /create/ },
  { name: 'reference', address: () => '/reference', shows: /\d{3} operations/ },
  { name: 'faults', address: () => '/faults', shows: /No planned faults/ },
  { name: 'clock', address: () => '/clock', shows: /Deprecation calendar/ },
  { name: 'conformance', address: () => '/conformance', shows: /has not run yet/ },
  { name: 'simulator', address: () => '/simulator', shows: /No fleet has been started/ },
  { name: 'states', address: () => '/states', shows: /No snapshots/ },
  { name: 'device', address: () => device('identity'), shows: /Authentication sets/ },
  { name: 'device-timeline', address: () => device('timeline'), shows: /The newest \d+ entries/ },
  { name: 'device-inventory', address: () => device('inventory'), shows: /device_type/ },
  { name: 'device-configuration', address: () => device('configuration'), shows: /Configured/ },
  { name: 'device-alerts', address: () => device('alerts'), shows: /alert/ },
  { name: 'device-deployments', address: () => device('deployments'), shows: /Spring/ },
  { name: 'device-socket', address: () => device('socket'), shows: /Start a shell/ },
];

async function show(page: Page, { address, shows }: ConsoleSection): Promise<void> {
  await goTo(page, address());
  await page.locator('main').getByText(shows).filter({ visible: true }).first().waitFor();
  await page.getByRole('heading', { level: 1 }).waitFor();
}

describe.each(['light', 'dark'] as const)(
  `a live fleet of ${DEVICES} devices, %s`,
  (colorScheme) => {
    let page: Page;
    let complaints: string[];
    let foreign: string[];

    beforeAll(async () => {
      ({ page, complaints, foreign } = await newPage(browser, served.ready, { colorScheme }));
      await openConsole(page, served.ready, '/devices');
      const link = page.locator('.long-table tbody a').first();
      deviceId = String(await link.getAttribute('href'))
        .split('/')
        .at(-1) as string;
    });

    afterAll(() => page?.close());

    it.each(sections)('shows $name, accessible and without console errors', async (section) => {
      await show(page, section);
      await expectAccessible(page, section.name);
      expect(complaints).toEqual([]);
      expect(foreign).toEqual([]);
    });

    it('fits a window of 360 pixels', async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      for (const section of sections) {
        await show(page, section);
        await expectNoOverhang(page, section.name);
      }
      await goTo(page, '/states');
      const current = page.locator('.sections [aria-current="page"]');
      await expect
        .poll(async () => {
          const { x = 0, width = 0 } = (await current.boundingBox()) ?? {};
          return x > 0 && x + width < 360;
        })
        .toBe(true);
      expect((await page.locator('.bar').boundingBox())?.height).toBeLessThan(60);
      await goTo(page, '/deployments');
      await page.locator('.kit-table td[data-title="Status"]').first().waitFor();
      await goTo(page, '/devices');
      const rows = '.long-table tbody tr:not(.space)';
      await page.locator(rows).nth(5).waitFor();
      const texts = await readableTexts(page, rows);
      expect(new Set(texts).size, texts.join('\n')).toBe(texts.length);
      expect(complaints).toEqual([]);
    });
  },
);

describe('runs that the console starts', () => {
  it('judge the server with live verdicts, and show the coverage', {
    timeout: 120_000,
  }, async () => {
    const { page, complaints } = await newPage(browser, served.ready);
    await openConsole(page, served.ready, '/conformance');
    await page.getByLabel('First characters of the case IDs').fill('inventory/');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText(/Running: [1-9]\d* of \d+ cases/).waitFor({ timeout: 60_000 });
    await page.getByText('Outcome: pass').waitFor({ timeout: 60_000 });
    await page.getByText('Coverage of the contract').waitFor();
    await expectAccessible(page, 'conformance');
    await expectNoOverhang(page, 'conformance');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('include a small fleet', { timeout: 120_000 }, async () => {
    const { page, complaints } = await newPage(browser, served.ready, { colorScheme: 'dark' });
    await openConsole(page, served.ready, '/simulator');
    await page.getByLabel('Devices').last().fill('3');
    await page.getByLabel('Seconds').fill('30');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('3 devices against').waitFor({ timeout: 60_000 });
    await expectAccessible(page, 'simulator');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('ended', { exact: true }).waitFor({ timeout: 60_000 });
    expect(complaints).toEqual([]);
    await page.close();
  });
});

describe('the terminal of the console', () => {
  it('reaches a simulated device', async () => {
    const { page, complaints } = await newPage(browser, served.ready);
    await openConsole(page, served.ready, device('socket'));
    await page.getByRole('button', { name: 'Start a shell' }).click();
    const screen = page.locator('.xterm-rows');
    await screen.getByText('#').first().waitFor();
    await page.keyboard.type('uname');
    await screen.getByText('uname').waitFor();
    await expectAccessible(page, 'terminal');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('uploads a file to a device, and downloads the file again', async () => {
    const { page, complaints } = await newPage(browser, served.ready);
    await openConsole(page, served.ready, device('socket'));
    const said = (text: string) => page.locator('output.notice').getByText(text).waitFor();
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const [from, to] = [page.getByLabel('Path on the device').first(), '/tmp/given.txt'];
    const buffer = Buffer.from('line <b>1</b>');
    const file = { name: 'given.txt', mimeType: 'text/plain', buffer };
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await page.getByLabel('Path on the device').last().fill(to);
    await press('Upload');
    await said('The file was sent to the device.');
    await from.fill(to);
    const [download] = await Promise.all([page.waitForEvent('download'), press('Download')]);
    expect(readFileSync(await download.path())).toEqual(buffer);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
