import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seenReader } from '../client-feed/testing/seen-reader.ts';
import { publish } from '../testing/test-artifacts.ts';
import { createDeployment, nextRequests, report } from '../testing/test-deployments.ts';
import { authenticate, knownDevices, newDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { goTo, launchBrowser, newPage, openConsole } from './testing/console-page.ts';

const DEVICES = 200;
const DEVICES_A_SECOND = 5;
const FILE_MAX_BYTES = 200_000;
/** The upper part of a view, which shows its content; below it are only further rows. */
const clip = { x: 0, y: 0, width: 1280, height: 640 };
const isWriting = process.env.FLEETBED_WRITE_SNAPSHOTS !== undefined;
const folder = fileURLToPath(new URL('./snapshots/', import.meta.url));
/**
 * Pictures are compared by the average colours of squares of this many pixels. Keys differ in each
 * run, and their letters hardly change an average.
 */
const SQUARE_PIXELS = 8;
/** Difference between two averages, of 255 in each colour, that counts as another colour. */
const COLOUR_TOLERANCE = 16;
const DIFFERENT_SHARE_MAX = 0.005;

let browser: Browser;
let server: TestServer;
let deploymentId = '';
let deviceId = '';

beforeAll(async () => {
  browser = await launchBrowser();
  const judge = () => Promise.resolve(() => seenReader());
  server = await startTestServer({ autoAccept: true, judge });
  await fill();
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** How far the devices get with the deployment, by their number. */
function progressOf(number: number): readonly string[] {
  if (number % 19 === 0) return ['downloading', 'installing', 'failure'];
  if (number < 90) return ['downloading', 'installing', 'rebooting', 'success'];
  if (number < 120) return ['downloading', 'installing'];
  return number < 150 ? ['downloading'] : [];
}

/** A fleet in the middle of a deployment, the same in each run except for the keys. */
async function fill(): Promise<void> {
  await publish(server, { name: 'release-2' });
  const tokens: string[] = [];
  for (let number = 1; number <= DEVICES; number += 1) {
    const device = newDevice(`FB-${String(number).padStart(4, '0')}`);
    await authenticate(server, device);
    const { text: token } = await authenticate(server, device);
    const board = { device_type: 'board', artifact_name: 'release-1' };
    const json = Object.entries(board).map(([name, value]) => ({ name, value }));
    await server.call('put-attributes', { token, json });
    tokens.push(token);
    if (number % DEVICES_A_SECOND === 0) server.clock.advance(1000);
  }
  const devices = await knownDevices(server);
  deviceId = devices.find(({ identity_data: { mac } }) => mac === 'FB-0001')?.id ?? '';
  const deployment = await createDeployment(server, devices, {
    name: 'Spring',
    artifact_name: 'release-2',
  });
  deploymentId = deployment.headers.get('location')?.split('/').at(-1) ?? '';
  for (const [at, token] of tokens.entries()) {
    const installed = { device_type: 'board', artifact_name: 'release-1' };
    await nextRequests['POST v2'](server, token, installed);
    for (const status of progressOf(at + 1))
      await report(server, { token }, { id: deploymentId, status });
    if (at % DEVICES_A_SECOND === 0) server.clock.advance(1000);
  }
  for (const name of ['FB-0901', 'FB-0902']) {
    await authenticate(server, newDevice(name), { signature: 'bm8gc2lnbmF0dXJl' });
  }
  server.clock.advance(1000);
}

/** A main view of the console, and text that it shows once it is loaded. */
const views: readonly (readonly [name: string, address: () => string, shows: RegExp])[] = [
  ['overview', () => '/', /^[1-9]\d* requests and/],
  ['devices', () => '/devices', /200 devices/],
  ['deployment', () => `/deployments/${deploymentId}`, /^FB-0001$/],
  ['journal', () => '/journal', /put-deployment-status/],
  ['faults', () => '/faults', /of \d+ on/],
  ['clients', () => '/clients', /Duties over all clients/],
  ['device', () => `/devices/${deviceId}?tab=identity`, /Authentication sets/],
];

describe.each(['light', 'dark'] as const)('the picture of the console, %s', (colorScheme) => {
  let page: Page;

  beforeAll(async () => {
    ({ page } = await newPage(browser, server, { colorScheme }));
    await openConsole(page, server);
  });

  afterAll(() => page?.close());

  it.each(views)('equals the stored picture: %s', async (name, address, shows) => {
    await goTo(page, address());
    await page.locator('main').getByText(shows).filter({ visible: true }).first().waitFor();
    // Parts of a view load by themselves, each with its own request.
    await expect
      .poll(() =>
        page
          .locator('main')
          .getByText(/^Loading /)
          .count(),
      )
      .toBe(0);
    await page.evaluate('document.activeElement?.blur()');
    const file = join(folder, `${name}-${colorScheme}.png`);
    const image = await page.screenshot({ clip, animations: 'disabled' });
    expect(image.length).toBeLessThan(FILE_MAX_BYTES);
    if (isWriting) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, image);
    }
    expect(existsSync(file), `${file} is missing: FLEETBED_WRITE_SNAPSHOTS=1 writes it`).toBe(true);
    const share = await differentShare(image, readFileSync(file));
    const remedy = `look at ${file}, and renew it with FLEETBED_WRITE_SNAPSHOTS=1 if the page is right`;
    expect(share, remedy).toBeLessThan(DIFFERENT_SHARE_MAX);
  });
});

describe('the comparison of pictures', () => {
  it('finds one row of a list that is missing, and no difference between equal pictures', async () => {
    const { page } = await newPage(browser, server);
    await openConsole(page, server, '/devices');
    const rows = page.locator('.long-table tbody tr');
    await rows.nth(9).waitFor();
    const screenshotBefore = await page.screenshot({ clip });
    expect(await differentShare(screenshotBefore, await page.screenshot({ clip }))).toBe(0);
    await page.evaluate("document.querySelector('.long-table tbody tr').style.opacity = 0");
    expect(await differentShare(screenshotBefore, await page.screenshot({ clip }))).toBeGreaterThan(
      DIFFERENT_SHARE_MAX,
    );
    await page.close();
  });
});

/** Returns the share of squares whose average colours differ; 1 for pictures of different sizes. */
async function differentShare(one: Buffer, other: Buffer): Promise<number> {
  const page = await browser.newPage();
  try {
    return await page.evaluate<number>(`(async () => {
      const averagesOf = async (base64) => {
        const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const { data, width, height } = context.getImageData(0, 0, image.width, image.height);
        const across = Math.ceil(width / ${SQUARE_PIXELS});
        const sums = new Float64Array(3 * across * Math.ceil(height / ${SQUARE_PIXELS}));
        for (let at = 0; at < data.length; at += 4) {
          const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)];
          const square = Math.floor(y / ${SQUARE_PIXELS}) * across + Math.floor(x / ${SQUARE_PIXELS});
          for (let colour = 0; colour < 3; colour += 1) {
            sums[3 * square + colour] += data[at + colour] / ${SQUARE_PIXELS ** 2};
          }
        }
        return sums;
      };
      const one = await averagesOf('${one.toString('base64')}');
      const other = await averagesOf('${other.toString('base64')}');
      if (one.length !== other.length) return 1;
      let different = 0;
      for (let at = 0; at < one.length; at += 3) {
        const differs = [0, 1, 2].some(
          (colour) => Math.abs(one[at + colour] - other[at + colour]) > ${COLOUR_TOLERANCE},
        );
        if (differs) different += 1;
      }
      return different / (one.length / 3);
    })()`);
  } finally {
    await page.close();
  }
}
