import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { operations } from '../../fixtures/contract/operations.ts';
import { connectProtocols } from '../../fixtures/formats/connect-message.ts';
import type { RunStarter } from '../control/sources/runs.ts';
import { publish } from '../testing/test-artifacts.ts';
import { deploy, nextRequests, report } from '../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { connectPeer } from '../testing/test-peer.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { goTo, launchBrowser, newPage, openConsole } from './testing/console-page.ts';

const attacks = [
  '<img src=x onerror="window.hacked=1">',
  '"><script>window.hacked=1</script>',
  "' onmouseover='window.hacked=1",
  'javascript:window.hacked=1',
  '<svg/onload=window.hacked=1>',
  '{{constructor.constructor("window.hacked=1")()}}',
  '<a href="javascript:window.hacked=1">click</a>',
  '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
  '\u202egnp.exe\u0007',
];
const all = attacks.join(' ');
/** Hostile texts for names of limited length. */
const short = attacks.slice(0, 3).join(' ');

let browser: Browser;
let server: TestServer;
let page: Page;
let complaints: string[];
let foreign: string[];
let device: AcceptedDevice;
let deploymentId: string;

beforeAll(async () => {
  browser = await launchBrowser();
  server = await startTestServer({ startRun, explainHeader: true });
  ({ page, complaints, foreign } = await newPage(browser, server));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await fill();
  await openConsole(page, server);
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** A run with hostile text in every line and in every text of its verdicts. */
const startRun: RunStarter = (_, onLine) => {
  const texts = { id: all, title: all, level: all, reason: { text: all }, requirements: [all] };
  const musts = { decided: 1, undecided: 1, undecidedMusts: [{ id: all }] };
  const lines = [
    { type: 'start', ids: [all] },
    { type: 'verdict', verdict: 'fail', ...texts },
    { type: 'verdict', verdict: all, ...texts },
    { type: 'end', outcome: all, musts },
  ];
  for (const line of [...attacks, ...lines.map((each) => JSON.stringify(each))]) onLine(line);
  return { ended: Promise.resolve(1), stop: () => undefined };
};

/** Hostile text in every field that a device can report. */
async function fill(): Promise<void> {
  device = await acceptedDevice(server, all);
  const { token } = device;
  const attributes = attacks.map((attack, index) => ({
    name: `n${index} ${attack}`,
    value: attack,
    description: attack,
  }));
  const own = [
    { name: 'device_type', value: 'board' },
    { name: 'artifact_name', value: short },
  ];
  const send = async (id: keyof typeof operations, json: unknown, parameters = {}) => {
    const { status, text } = await server.call(id, { token, json, parameters });
    if (status >= 300) throw new Error(`${id}: ${status} ${text}`);
  };
  await send('put-attributes', [...attributes, ...own]);
  await send('put-configuration', Object.fromEntries(attacks.map((each, at) => [`c${at}`, each])));
  const line = { line_number: 1, data: all };
  const details = { description: all, line_matching: line };
  const subject = { name: all, type: all, status: all, details };
  const alert = { name: all, level: 'CRITICAL', subject, timestamp: '2026-11-21T12:00:00Z' };
  await send('post-alerts', [alert]);
  await publish(server, { name: short });
  deploymentId = await deploy(server, [device], { name: short, artifact_name: short });
  await nextRequests['POST v1'](server, token, {
    device_type: 'board',
    artifact_name: 'release-1',
  });
  await report(server, device, { id: deploymentId, status: 'failure', substate: all });
  const messages = [{ timestamp: '2026-11-21T12:00:00Z', level: all, message: all }];
  await send('put-deployment-log', { messages }, { id: deploymentId });
  const headers = { 'X-SVC-RequestID': attacks[0] ?? '', 'User-Agent': attacks[1] ?? '' };
  await server.request('GET', `/${encodeURIComponent(all)}?${all.replaceAll(' ', '')}`, {
    headers,
  });
}

async function expectHarmless(where: string): Promise<void> {
  await page.waitForTimeout(300);
  expect(await page.evaluate('window.hacked'), where).toBeUndefined();
  const markup = 'main img, main script, main iframe, main a[href^="javascript"], main [onerror]';
  expect(await page.locator(markup).count(), where).toBe(0);
  expect(await page.title(), where).toMatch(/· Fleetbed console$/);
  expect(complaints, where).toEqual([]);
  expect(foreign, where).toEqual([]);
}

describe('hostile text from a device', () => {
  it.each([
    '/',
    '/devices',
    '/deployments',
    '/artifacts',
    '/journal',
    '/journal?kind=exchange',
    '/doctor',
    '/audit',
    '/faults',
    '/clock',
    '/states',
  ])('is shown as text at %s', async (view) => {
    await goTo(page, view);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expectHarmless(view);
  });

  it.each([
    'identity',
    'timeline',
    'inventory',
    'configuration',
    'alerts',
    'deployments',
    'socket',
  ])('is shown as text in the tab %s of the device', async (tab) => {
    await goTo(page, `/devices/${device.id}?tab=${tab}`);
    await page.getByRole('tabpanel').waitFor();
    await page.getByRole('heading', { level: 1 }).getByText('<img src=x').waitFor();
    await expectHarmless(tab);
  });

  it('is shown as text in a deployment and in its log', async () => {
    await goTo(page, `/deployments/${deploymentId}`);
    await page.getByRole('button', { name: 'Show log' }).click();
    await page.getByRole('dialog').getByText('<img src=x').waitFor();
    await expectHarmless('the log');
    await page.keyboard.press('Escape');
  });

  it('is shown as text in every journal entry and explanation', async () => {
    await goTo(page, '/journal');
    await page.locator('.long-table tbody a[href^="#/journal/"]').first().waitFor();
    const links = page.locator('.long-table tbody a[href^="#/journal/"]');
    const addresses = await links.evaluateAll((found) =>
      found.map((each) => String(each.getAttribute('href')).slice(1)),
    );
    for (const address of addresses) {
      await goTo(page, address);
      await page.getByText('Request ID').waitFor();
      await expectHarmless(address);
    }
  });

  it.each(['conformance', 'simulator'])('is shown as text in a run at /%s', async (view) => {
    await goTo(page, `/${view}`);
    await page.getByRole('button', { name: /^(Run|Start)$/ }).click();
    await page
      .locator('main')
      .getByText(/exit code 1/)
      .waitFor();
    await page.locator('main').getByText('<img src=x').first().waitFor();
    if (view === 'simulator') await page.getByText('failed', { exact: true }).waitFor();
    await expectHarmless(view);
  });

  it('is shown as text when it is a request ID', async () => {
    await goTo(page, `/explain/${encodeURIComponent(attacks[0] ?? '')}`);
    await page.getByRole('heading', { level: 1 }).getByText('<img src=x').waitFor();
    await page.getByText('How it would succeed').waitFor();
    await expectHarmless('explanation');
  });

  it('stays inside the terminal', async () => {
    const peer = await connectPeer(server, device);
    await goTo(page, `/devices/${device.id}?tab=socket`);
    await page.getByRole('button', { name: 'Start a shell' }).click();
    const shellRequest = await peer.nextOf('new');
    peer.reply(shellRequest, { proto: connectProtocols.shell, typ: 'new' });
    const escapes = `\x1b]0;hacked\x07\x1b]52;c;aGFja2Vk\x07\x1b]8;;javascript:window.hacked=1\x07link\x1b]8;;\x07\x1b[38;2;1;2;3mcolour`;
    const body = Buffer.from(`${escapes}${all}\r\nthe end`);
    peer.reply(shellRequest, { proto: connectProtocols.shell, typ: 'shell', body });
    await page.locator('.xterm-rows').getByText('the end').waitFor();
    await page.locator('.xterm-rows').getByText('link').first().click({ force: true });
    await expectHarmless('terminal');
    peer.socket.terminate();
  });
});
