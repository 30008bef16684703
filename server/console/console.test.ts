import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';

const command = fileURLToPath(new URL('../../dist/bin/fleetbed.js', import.meta.url));
const chromiumPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const chromiumFlags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const hostileSerial = '<img src=x onerror="document.title=1">';

interface Ready {
  readonly baseUrl: string;
  readonly controlUrl: string;
  readonly adminToken: string;
  readonly controlToken: string;
}

let runFolder: string;
let browser: Browser;
let server: ChildProcess;
let ready: Ready;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  if (!existsSync(chromiumPath)) {
    throw new Error(
      `no chromium at ${chromiumPath}: sudo apt-get install chromium, or CHROMIUM_PATH`,
    );
  }
  runFolder = mkdtempSync(join(tmpdir(), 'fleetbed-console-'));
  browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumFlags });
});

afterAll(async () => {
  await browser?.close();
  rmSync(runFolder, { recursive: true });
});

beforeEach(async () => {
  const options = [
    '--port',
    '0',
    '--control-port',
    '0',
    '--auto-accept',
    '--log-level',
    'error',
    '--explain-header',
  ];
  server = spawn(process.execPath, [command, 'serve', '--json', ...options], {
    // The user's own commands must not find its run file.
    env: { ...process.env, XDG_RUNTIME_DIR: runFolder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = server.stdout ? await once(server.stdout, 'data') : [];
  ready = JSON.parse(String(line));
  page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(10_000);
  complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
});

afterEach(async () => {
  await page.close();
  if (server.exitCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
});

/** Authenticates a device; with automatic acceptance its second request gets the token. */
async function signIn(identity: Record<string, unknown>): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pubkey = publicKey.export({ type: 'spki', format: 'pem' });
  const body = JSON.stringify({ id_data: JSON.stringify(identity), pubkey });
  const headers = {
    'Content-Type': 'application/json',
    'X-SVC-Signature': sign(null, Buffer.from(body), privateKey).toString('base64'),
  };
  const request = { method: 'POST', headers, body };
  const url = ready.baseUrl + pathOf(operations['post-auth-request']);
  expect((await fetch(url, request)).status).toBe(401);
  const answer = await fetch(url, request);
  expect(answer.status).toBe(200);
  return answer.text();
}

async function call(path: string, token: string, request: RequestInit): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, ...request.headers };
  const answer = await fetch(ready.baseUrl + path, { ...request, headers });
  expect(answer.ok, `${path}: ${answer.status}`).toBe(true);
}

const json = (body: unknown, method = 'POST'): RequestInit => ({
  method,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

/**
 * Creates three devices, one of them with markup in its identity and inventory, and one deployment.
 */
async function fillServer(): Promise<void> {
  for (const serial of ['FB-1', 'FB-2', hostileSerial]) {
    const token = await signIn({ mac: '02:00:00:00:00:01', serial });
    const attributes = [
      { name: 'device_type', value: 'board' },
      { name: 'artifact_name', value: serial === hostileSerial ? hostileSerial : 'release-1' },
    ];
    await call(pathOf(operations['put-attributes']), token, json(attributes, 'PUT'));
  }
  const content = Buffer.alloc(1024);
  const artifact = await writeArtifact({
    name: 'release-2',
    deviceTypes: ['board'],
    payloadType: 'single-file',
    files: [{ name: 'app.bin', content }],
    modifiedMs: 0,
  });
  const form = new FormData();
  form.append('artifact', new Blob([Uint8Array.from(artifact)]), 'release-2.mender');
  const upload = pathOf(managementOperations['upload-artifact']);
  await call(upload, ready.adminToken, { method: 'POST', body: form });
  const deployment = {
    name: 'Spring <b>update</b>',
    artifact_name: 'release-2',
    all_devices: true,
  };
  const create = pathOf(managementOperations['create-deployment']);
  await call(create, ready.adminToken, json(deployment));
}

const open = (token = ready.controlToken) => page.goto(`${ready.controlUrl}/#token=${token}`);
const rowsOf = (id: string) => page.locator(`#${id} tr:not(.hint)`);

describe('the console page', () => {
  it('shows devices, deployments and live requests of a running server', async () => {
    await fillServer();
    await open();
    await rowsOf('devices').nth(2).waitFor();
    expect(await rowsOf('devices').first().textContent()).toMatch(
      /FB-1[\s\S]*accepted[\s\S]*board/,
    );
    expect(await rowsOf('deployments').textContent()).toMatch(
      /release-2[\s\S]*pending[\s\S]*3 pending/,
    );
    expect(await page.locator('#counts').textContent()).toMatch(/^3devices3accepted$/);
    await page.getByText('Live', { exact: true }).first().waitFor();
    await signIn({ serial: 'FB-4' });
    await page.locator('#live li').nth(1).waitFor();
    expect(await page.locator('#live li').first().textContent()).toMatch(
      /200[\s\S]*post-auth-request/,
    );
    await rowsOf('devices').nth(3).waitFor();
    const path = join(runFolder, 'console.png');
    await page.screenshot({ path, fullPage: true });
    const image = readFileSync(path);
    expect(image.subarray(1, 4).toString()).toBe('PNG');
    expect(image.length).toBeGreaterThan(20_000);
    expect(complaints).toEqual([]);
  });

  it('shows what a device sends as text, never as markup', async () => {
    await fillServer();
    await open();
    const cell = rowsOf('devices').nth(2);
    await cell.waitFor();
    expect(await cell.locator('th').textContent()).toContain(hostileSerial);
    expect(await cell.locator('td').nth(2).textContent()).toBe(hostileSerial);
    expect(await rowsOf('deployments').textContent()).toContain('Spring <b>update</b>');
    expect(await page.locator('main img, tbody b').count()).toBe(0);
    expect(await page.title()).toBe('Fleetbed console');
    expect(complaints).toEqual([]);
  });

  it('says what to do while there is nothing to show', async () => {
    await open();
    await page.getByText('No device has called yet').waitFor();
    await page.getByText('No deployment yet').waitFor();
    await page.getByText('Waiting for the first request').waitFor();
    expect(complaints).toEqual([]);
  });

  it('keeps the token out of the address bar and forgets it on request', async () => {
    await open();
    await page.getByText('No device has called yet').waitFor();
    expect(page.url()).toBe(`${ready.controlUrl}/`);
    await page.reload();
    await page.getByText('No device has called yet').waitFor();
    await page.getByRole('button', { name: 'Forget token' }).click();
    await page.getByLabel('Control token').waitFor();
    await page.reload();
    await page.getByLabel('Control token').waitFor();
  });

  it('refuses a wrong token with an error that says where the right one is', async () => {
    await open('wrong');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('The token was refused');
    expect(await page.locator('#content').isVisible()).toBe(false);
    await page.getByLabel('Control token').fill(ready.controlToken);
    await page.keyboard.press('Enter');
    await page.getByText('No device has called yet').waitFor();
    expect(await alert.isVisible()).toBe(false);
    expect(complaints).toEqual([expect.stringContaining('401')]);
  });

  it('explains the request of a link once the token is known', async () => {
    const answer = await fetch(ready.baseUrl + operations['get-configuration'].path, {
      headers: { 'X-SVC-RequestID': '<b>a/b</b>' },
    });
    const link = answer.headers.get('X-SVC-Testbed-Explain') ?? '';
    expect(link).toBe(`${ready.controlUrl}/#request=%3Cb%3Ea%2Fb%3C%2Fb%3E`);
    await page.goto(link);
    await page.getByLabel('Control token').fill(ready.controlToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Request <b>a/b</b>' }).waitFor();
    await page.getByText('the Authorization header is missing').waitFor();
    await page.goto(`${ready.controlUrl}/#request=unknown`);
    await page.getByText('no request with this id is in the journal').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    expect(page.url()).toBe(`${ready.controlUrl}/`);
    expect(await page.locator('#explanation').isVisible()).toBe(false);
    // The browser reports the 404 on its own; nothing else.
    expect(complaints).toEqual([expect.stringContaining('404')]);
  });

  it('says that the server is gone and keeps what it showed', async () => {
    await fillServer();
    await open();
    await rowsOf('devices').nth(2).waitFor();
    await page.getByText('Live', { exact: true }).first().waitFor();
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    await ended;
    await page.getByText('Connection lost').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('Trying again');
    expect(await rowsOf('devices').count()).toBe(3);
  });

  it('can be reached and worked by keyboard alone', async () => {
    await open();
    await page.getByText('No device has called yet').waitFor();
    const reached: string[] = [];
    for (let presses = 0; presses < 7; presses++) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate('document.activeElement.textContent.trim().slice(0, 11)'));
    }
    expect(reached.map((text) => text.split(/\s/)[0])).toEqual(
      expect.arrayContaining(['Skip', 'Forget', 'Deployments', 'Devices', 'Pause']),
    );
    await page.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('Enter');
    await signIn({ serial: 'FB-9' });
    await rowsOf('devices').first().waitFor();
    expect(await page.locator('#live li').count()).toBe(0);
    await page.keyboard.press('Space');
    await page.locator('#live li').first().waitFor();
  });

  it('fits a small screen and a dark one', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await fillServer();
    await open();
    await rowsOf('devices').nth(2).waitFor();
    const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overhang)).toBe(0);
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe('rgb(18, 22, 21)');
  });
});
