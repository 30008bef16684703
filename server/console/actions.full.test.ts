import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { endOfLife } from '../../fixtures/contract/deprecations.ts';
import { artifactBytes } from '../testing/test-artifacts.ts';
import { nextRequests } from '../testing/test-deployments.ts';
import { acceptedDevice, authenticate, newDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { control } from '../testing/test-tenants.ts';
import { variationRows } from '../variation/variations.ts';
import { expectAccessible, launchBrowser, newPage, openConsole } from './testing/console-page.ts';

let browser: Browser;
let server: TestServer;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser?.close());

beforeEach(async () => {
  server = await startTestServer();
  ({ page } = await newPage(browser, server));
});

afterEach(async () => {
  await page.close();
  await server.close();
});

const installed = { device_type: 'board', artifact_name: 'release-1' };
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const waitForNotice = (text: string) => page.locator('output.notice').getByText(text).waitFor();

/** Returns the file that the browser saves when the button is pressed. */
async function savedBy(name: string): Promise<{ file: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), press(name)]);
  return { file: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

describe('artifacts in the console', () => {
  it('are uploaded when they are dropped on the page', async () => {
    await openConsole(page, server, '/artifacts');
    const bytes = (await artifactBytes()).toString('base64');
    const drop = `(() => {
      const transfer = new DataTransfer();
      const bytes = Uint8Array.from(atob('${bytes}'), (each) => each.charCodeAt(0));
      transfer.items.add(new File([bytes], 'release.mender'));
      const options = { bubbles: true, cancelable: true, dataTransfer: transfer };
      document.querySelector('.drop').dispatchEvent(new DragEvent('drop', options));
    })()`;
    await page.locator('.drop').waitFor();
    await page.evaluate(drop);
    await page.getByRole('cell', { name: 'release-1' }).waitFor();
  });

  it('are refused with the reason when the file is not one', async () => {
    await openConsole(page, server, '/artifacts');
    const file = { name: 'x.mender', mimeType: 'text/plain', buffer: Buffer.from('no artifact') };
    await page.locator('.drop input').setInputFiles(file);
    await page.locator('output.notice[data-tone=negative]').waitFor();
    await page.getByText('No artifacts yet').waitFor();
  });

  it('can be generated from any file', async () => {
    await openConsole(page, server, '/artifacts');
    const file = { name: 'a b.sh', mimeType: 'text/plain', buffer: Buffer.from('echo') };
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await page.getByLabel('Release name').fill('release-7');
    await page.getByLabel('Device types, with commas between').fill('board, other');
    await page.getByLabel('Directory on the device').fill('/opt');
    await press('Generate artifact');
    await waitForNotice('The artifact was generated.');
    await page.getByRole('cell', { name: 'board, other', exact: true }).waitFor();
  });
});

describe('downloads from the console', () => {
  it('contain the audit log as CSV', async () => {
    await acceptedDevice(server, 'FB-1');
    await openConsole(page, server, '/audit');
    const { file, text } = await savedBy('Save as CSV');
    expect(file).toMatch(/\.csv$/);
    expect(text).toMatch(/^action,.*\r\n/);
    expect(text).toContain('FB-1');
  });

  it('contain the journal as an archive', async () => {
    await authenticate(server, newDevice('FB-2'));
    await openConsole(page, server, '/journal');
    const { file, text } = await savedBy('Save as HAR');
    expect(file).toMatch(/\.har$/);
    const { log } = JSON.parse(text);
    expect(
      log.entries.map(({ response }: { response: { status: number } }) => response.status),
    ).toEqual([401]);
  });
});

describe('the audit log in the console', () => {
  it('shows entries that match its filters, kept in the address', async () => {
    await acceptedDevice(server, 'FB-1');
    await openConsole(page, server, '/audit');
    await page.getByRole('cell', { name: 'device FB-1' }).first().waitFor();
    const object = page.getByRole('combobox', { name: 'Object', exact: true });
    await object.selectOption('artifact');
    await page.getByText('No matching entries').waitFor();
    await object.selectOption('device');
    await page.getByLabel('Email of the actor').fill('nobody@example.com');
    await page.getByText('No matching entries').waitFor();
    await page.reload();
    await page.getByText('No matching entries').waitFor();
    await page.getByLabel('Email of the actor').fill(server.adminEmail);
    await page.getByRole('cell', { name: 'accept' }).waitFor();
  });
});

describe('faults in the console', () => {
  it('can be planned, watched until they fire, and removed', async () => {
    const device = await acceptedDevice(server, 'FB-2');
    const poll = () => nextRequests['GET v1'](server, device.token, installed);
    await openConsole(page, server, '/faults');
    await press('Add to the plan');
    await press('Plan');
    await page.getByText('0 times of 0 matching requests').waitFor();
    expect([(await poll()).status, (await poll()).status]).toEqual([502, 204]);
    await page.getByText('1 times of 2 matching requests').waitFor();
    await press('Remove all');
    const question = page.getByRole('dialog');
    await question.getByRole('button', { name: 'Remove' }).waitFor();
    await expectAccessible(page, 'a question');
    await question.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No planned faults', { exact: true }).waitFor();
  });

  it('can be planned repeatedly by the form', async () => {
    await openConsole(page, server, '/faults');
    for (const count of [2, 4]) {
      await press('Add to the plan');
      await press('Add to the plan');
      await press('Plan');
      await page.getByText(`${count} planned`).waitFor();
    }
    const cells = page.getByRole('cell', { name: /^rule-/ });
    expect(await cells.allTextContents()).toEqual(['rule-1', 'rule-2', 'rule-3', 'rule-4']);
  });
});

describe('variations in the console', () => {
  it('can be switched on and off one by one', async () => {
    const { length } = variationRows;
    await openConsole(page, server, '/faults');
    await page.getByText(`0 of ${length} on`).waitFor();
    const change = (name: string) =>
      page.getByRole('row').filter({ hasText: name }).getByRole('button').click();
    for (const name of ['chunked', 'header-case']) {
      await change(name);
      await waitForNotice(`${name} is on.`);
    }
    await page.getByText(`2 of ${length} on`).waitFor();
    const { headers } = await fetch(`${server.baseUrl}/nowhere`);
    expect(headers.get('transfer-encoding')).toBe('chunked');
    await change('chunked');
    await waitForNotice('chunked is off.');
    await page.getByText(`1 of ${length} on`).waitFor();
    await press('Switch all off');
    await page.getByText(`0 of ${length} on`).waitFor();
  });
});

describe('a device in the console', () => {
  it('can be configured, and gets the configuration with its next poll', async () => {
    const device = await acceptedDevice(server, 'FB-3');
    const poll = () => nextRequests['POST v1'](server, device.token, installed);
    await openConsole(page, server, `/devices/${device.id}?tab=configuration`);
    const editor = page.getByLabel('One pair per line, as key=value');
    await editor.fill('timezone');
    await press('Save');
    await waitForNotice('“timezone” is not of the form key=value');
    await editor.fill('timezone=UTC');
    await press('Save');
    await page.getByRole('cell', { name: 'UTC' }).waitFor();
    expect((await poll()).status).toBe(204);
    await press('Deploy');
    await waitForNotice("The configuration is deployed with the device's next poll.");
    expect((await poll()).status).toBe(200);
  });
});

describe('the clock and state in the console', () => {
  it('can be moved past the date at which deprecated operations end', async () => {
    await openConsole(page, server, '/clock');
    await page.getByText(`half a year before and after ${endOfLife}`).waitFor();
    await page.getByText('Today is 2026-11-21, which is outside of it').waitFor();
    const slider = page.getByRole('slider');
    const box = await slider.boundingBox();
    if (!box) throw new Error('the slider is not shown');
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + 10, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 1, middle, { steps: 5 });
    await page.mouse.up();
    await page.getByText(/\d+ operations have been removed/).waitFor();
    await press('Go to this day');
    await waitForNotice('It is ');
    const { text } = await control(server, 'GET', '/clock');
    expect(Date.parse(JSON.parse(text).now)).toBeGreaterThan(Date.parse(endOfLife));
  });

  it('can be moved, stopped and put back', async () => {
    await openConsole(page, server, '/clock');
    await press('+ 1 day');
    await waitForNotice('1 day has passed.');
    await page.getByText(/8640\d s from the/).waitFor();
    await press('Stop time');
    await page.getByText('pace 0').waitFor();
    await press('Reset');
    await page.getByText('Mode: base; pace 1; 0 s from').waitFor();
  });

  it('can be saved as a snapshot and restored after a confirmation', async () => {
    await openConsole(page, server, '/states');
    await page.getByLabel('Name', { exact: true }).fill('empty');
    await press('Save');
    await waitForNotice('The current state was saved.');
    await acceptedDevice(server, 'FB-3');
    await press('Restore');
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await waitForNotice('empty was restored.');
    await page.getByRole('navigation').getByRole('link', { name: 'Devices' }).click();
    await page.getByText('No devices yet').waitFor();
  });

  it('can be loaded from a world file, whose errors name the place', async () => {
    await openConsole(page, server, '/states');
    const text = page.getByLabel('YAML or JSON');
    await text.fill('devices: 7');
    await press('Load');
    await page.getByRole('dialog').getByRole('button', { name: 'Load' }).click();
    await waitForNotice('body:1:10: devices: must be a list');
    await text.fill('devices:\n  - { name: one, identity: { mac: FB-4 }, status: accepted }\n');
    await press('Load');
    await page.getByRole('dialog').getByRole('button', { name: 'Load' }).click();
    await waitForNotice('The world file was loaded.');
  });
});
