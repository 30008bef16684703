import type { Browser, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { publish } from '../testing/test-artifacts.ts';
import { board, deploy, nextRequests, report } from '../testing/test-deployments.ts';
import { acceptedDevice, authenticate, newDevice, signatureOf } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { launchBrowser, newPage, openConsole } from './testing/console-page.ts';

let browser: Browser;
let server: TestServer;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser?.close());

beforeEach(async () => {
  server = await startTestServer();
  ({ page, complaints } = await newPage(browser, server));
});

afterEach(async () => {
  expect(complaints).toEqual([]);
  await page.close();
  await server.close();
});

const verdict = () => page.locator('.kit-verdict');
const title = async (): Promise<string> => (await verdict().locator('> strong').innerText()).trim();

describe('the panel of a device with a finished update', () => {
  it('shows one green line with the text of journal and record', async () => {
    await publish(server, { name: 'release-1' });
    const device = await acceptedDevice(server, 'FB-1');
    const id = await deploy(server, [device]);
    await nextRequests['GET v1'](server, device.token, board);
    await report(server, device, { id, status: 'success' });
    await nextRequests['GET v1'](server, device.token, { ...board, artifact_name: 'release-1' });
    await openConsole(page, server, `/devices/${device.id}`);
    await verdict().waitFor();
    const panel = await title();
    expect(panel).toBe(
      'Up to date: the device finished deployment spring of release-1 with success at 21 Nov 2026, 12:00:00',
    );
    expect(await verdict().getAttribute('data-tone')).toBe('positive');
    expect(await verdict().locator('details').getAttribute('open')).toBeNull();
    const all = await verdict().textContent();
    expect(all?.match(/with success/g)).toHaveLength(1);
    expect(all).not.toMatch(/\d{4}-\d\d-\d\dT/);
    await openConsole(page, server, '/journal');
    const why = page.locator('.long-table tbody tr').first().locator('td').nth(4);
    await why.getByText('up to date').waitFor();
    expect(`U${(await why.innerText()).trim().slice(1)}`).toBe(panel);
    await page.locator('.long-table tbody tr').first().getByRole('link').first().click();
    await page.getByText('Request ID').waitFor();
    await verdict().waitFor();
    expect(await title()).toBe(panel);
  });
});

describe('the link to an explanation in an error response', () => {
  /** Polls without the required parameters, and returns the address of the explanation. */
  async function refusedAddress(): Promise<string> {
    const device = await acceptedDevice(server, 'FB-1');
    const response = await server.call('get-next-deployment', { token: device.token });
    const { request_id: requestId } = response.json<{ request_id: string }>();
    return `${server.controlUrl}/#request=${requestId}`;
  }

  it('opens in a console that is open already', async () => {
    await openConsole(page, server, '/journal');
    await page.goto(await refusedAddress());
    expect(await title()).toMatch(/^400: /);
  });

  it('opens in a new tab without logging in again', async () => {
    const context = await browser.newContext();
    await openConsole(await context.newPage(), server);
    const tab = await context.newPage();
    await tab.goto(await refusedAddress());
    const verdict = tab.locator('.kit-verdict > strong');
    await verdict.waitFor();
    expect((await verdict.innerText()).trim()).toMatch(/^400: /);
    await context.close();
  });

  it('asks for the token when no other tab has a console', async () => {
    await page.goto(await refusedAddress());
    await page.getByLabel('Control token').waitFor();
    expect(await verdict().count()).toBe(0);
  });
});

describe('the signature doctor of the console', () => {
  const device = newDevice('FB-1');
  const request = { id_data: device.idData, pubkey: device.publicKeyPem };
  const sent = JSON.stringify(request, null, 2);

  it('finds the cause of a refused request whose JSON is unchanged', async () => {
    const signature = signatureOf(JSON.stringify(request), device.privateKey);
    const response = await authenticate(server, device, { body: sent, signature });
    expect(response.status).toBe(401);
    await openConsole(page, server, '/doctor');
    await page.getByRole('button', { name: 'Examine' }).nth(1).click();
    await verdict().getByText('answered with 401: signature verification failed').waitFor();
    expect(await verdict().getAttribute('data-tone')).toBe('negative');
  });

  it('takes the bytes of a file unchanged', async () => {
    const crlf = Buffer.from(sent.replaceAll('\n', '\r\n'));
    await openConsole(page, server, '/doctor');
    await page.getByLabel('File with the body').setInputFiles({
      name: 'auth.json',
      mimeType: 'application/json',
      buffer: crlf,
    });
    const examine = async (signature: string): Promise<void> => {
      await page.getByLabel('Signature, as in the header').fill(signature);
      await page.getByRole('button', { name: 'Examine' }).first().click();
    };
    await examine(signatureOf(crlf, device.privateKey));
    await verdict().getByText(`matches the ${crlf.length} bytes of the body`).waitFor();
    await examine(signatureOf(sent, device.privateKey));
    await verdict().and(page.locator('[data-tone="negative"]')).waitFor();
    await examine('AAAA');
    await verdict().getByText('The signature is cut off').waitFor();
  });
});
