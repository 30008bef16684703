import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenServer, openServer } from '../server.ts';
import { launchBrowser, newPage, openConsole } from './testing/console-page.ts';

const DEVICES = 10_000;
const FIRST_VIEW_MAX_MS = 1500;
const FILTER_MAX_MS = 100;
/** The machine may run other work too, so the test measures only the work of the page. */
const ROUNDS = 5;

let browser: Browser;
let inside: OpenServer;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
  inside = await openServer({ port: 0, controlPort: 0, logLevel: 'silent' });
  fill(inside);
  ({ page } = await newPage(browser, inside.server));
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await inside?.server.close();
});

function fill({ services }: OpenServer): void {
  const { store } = services.tenants.first;
  for (let index = 0; index < DEVICES; index++) {
    const id = services.random.uuid();
    const serial = `FB-${String(index).padStart(5, '0')}`;
    store.devices.recordFirstContact(
      { id, identity: JSON.stringify({ serial }) },
      {
        id: services.random.uuid(),
        publicKeyPem: `key of ${serial}`,
        status: index % 3 === 0 ? 'pending' : 'accepted',
        nowMs: index,
      },
    );
    const attribute = (name: string, value: string) => ({ name, value, updatedMs: 0 });
    store.inventory.replace(id, [
      attribute('device_type', `board-${index % 7}`),
      attribute('artifact_name', 'release-1'),
    ]);
  }
}

const rows = () => page.locator('.long-table tbody tr');

describe(`a fleet of ${DEVICES} devices`, () => {
  it(`is in view within ${FIRST_VIEW_MAX_MS} ms`, async () => {
    const tookMs: number[] = [];
    await openConsole(page, inside.server, '/devices');
    await page.getByText(`${DEVICES} devices`).waitFor();
    for (let round = 0; round < ROUNDS; round++) {
      await page.reload();
      await page.getByText(`${DEVICES} devices`).waitFor();
      await rows().first().waitFor();
      tookMs.push(await page.evaluate<number>('performance.now()'));
    }
    expect(Math.min(...tookMs), `${tookMs.map(Math.round)}`).toBeLessThan(FIRST_VIEW_MAX_MS);
  });

  it(`is filtered within ${FILTER_MAX_MS} ms`, async () => {
    const tookMs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const wanted = `FB-0${round}12`;
      tookMs.push(await page.evaluate<number>(filterFor(wanted)));
      expect(await rows().first().textContent()).toContain(wanted);
      expect(await page.getByText('10 of 10000 devices').count()).toBe(1);
    }
    expect(Math.min(...tookMs), `${tookMs.map(Math.round)}`).toBeLessThan(FILTER_MAX_MS);
  });

  it('a list of many devices scrolls to its end with few rows in the page', async () => {
    await page.getByLabel('Search identity').fill('');
    await page.getByText(`${DEVICES} devices`).waitFor();
    expect(await rows().count()).toBeLessThan(100);
    await page.evaluate("document.querySelector('.long-table').scrollTo(0, 1e9)");
    await page.getByText('FB-09999').waitFor();
    expect(await rows().count()).toBeLessThan(100);
  });
});

/** Types into the filter and returns how long it took until the rows were painted. */
function filterFor(text: string): string {
  return `(async () => {
    const field = document.querySelector('input[type=search]');
    const startedMs = performance.now();
    field.value = ${JSON.stringify(text)};
    field.dispatchEvent(new Event('input', { bubbles: true }));
    while (!document.querySelector('.long-table tbody a')?.textContent.includes(field.value)) {
      await new Promise(requestAnimationFrame);
    }
    await new Promise(requestAnimationFrame);
    return performance.now() - startedMs;
  })()`;
}
