import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { dialects } from '../../../fixtures/contract/dialects.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { authenticateDevices } from '../../dev/bench/authenticated-devices.ts';
import {
  type RunningCommand,
  runCommand,
  startCommand,
  startServe,
} from '../../testing/built-command.ts';

const END_MAX_MS = 2000;
const free = ['--port', '0', '--control-port', '0'];

let folder: string;
let running: RunningCommand | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-serve-'));
});

afterEach(async () => {
  await running?.end();
  running = undefined;
  rmSync(folder, { recursive: true });
});

async function serve(args: readonly string[] = []) {
  const started = await startServe(args);
  running = started.running;
  return started;
}

const readyShape = {
  event: 'ready',
  baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  controlUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  adminEmail: 'admin@example.com',
  adminPassword: expect.stringMatching(/^\S{12,}$/),
  adminToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
  controlToken: expect.stringMatching(/^\S{24,}$/),
  headerPrefix: 'X-SVC',
  version: JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
    .version,
};

describe('the ready message of serve', () => {
  it('is one JSON line, also in the ready file, readable only by its owner', async () => {
    const file = join(folder, 'ready.json');
    const { ready, running } = await serve(['--ready-file', file]);
    expect(ready).toEqual(readyShape);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(ready);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['ready.json']);
    const { stdout, code } = await running.end();
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(0);
  });

  it('is printed only when both listeners accept the secrets', async () => {
    const { ready } = await serve();
    const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
    const list = ready.baseUrl + pathOf(managementOperations['list-devices']);
    expect((await fetch(list, bearer(ready.adminToken))).status).toBe(200);
    const overview = `${ready.controlUrl}/overview`;
    expect((await fetch(overview, bearer(ready.controlToken))).status).toBe(200);
    expect((await fetch(list, bearer(ready.controlToken))).status).toBe(401);
    expect((await fetch(overview, bearer(ready.adminToken))).status).toBe(401);
    const login = Buffer.from(`${ready.adminEmail}:${ready.adminPassword}`).toString('base64');
    const response = await fetch(ready.baseUrl + pathOf(managementOperations.login), {
      method: 'POST',
      headers: { Authorization: `Basic ${login}` },
    });
    expect(response.status).toBe(200);
  });

  it('replaces a ready file that an earlier server left behind', async () => {
    const file = join(folder, 'ready.json');
    writeFileSync(file, '{"event":"ready","baseUrl":"http://127.0.0.1:1"}', { mode: 0o644 });
    const { ready } = await serve(['--ready-file', file]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(ready);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is one readable line without --json', async () => {
    const command = startCommand(['serve', ...free, '--admin-password', 'of-the-test']);
    running = command;
    const line = await command.waitForOutput('stdout', /\n/);
    expect(line).toMatch(/^ready at http:\S+, admin@example\.com with password of-the-test, /);
    expect(line).toMatch(/console http:\S+\/#token=\S+\n$/);
  });

  it('contains the values of the given options', async () => {
    const args = ['--admin-email', 'me@example.org', '--header-prefix', 'X-MEN'];
    const { ready } = await serve([...args, '--admin-password', 'of-the-test']);
    expect(ready).toMatchObject({
      adminEmail: 'me@example.org',
      adminPassword: 'of-the-test',
      headerPrefix: 'X-MEN',
    });
  });

  it('announces a server whose clock starts at --date and runs on', async () => {
    const { ready } = await serve(['--date', '2027-08-25']);
    const payload = String(ready.adminToken).split('.')[1] ?? '';
    const issuedAt = JSON.parse(Buffer.from(payload, 'base64url').toString()).iat;
    expect(new Date(issuedAt * 1000).toISOString()).toMatch(/^2027-08-25T00:00/);
    const response = await fetch(ready.baseUrl);
    expect(response.headers.get('date')).toMatch(/^Wed, 25 Aug 2027 00:0/);
    const retired = pathOf(managementOperations['list-artifacts-v1']);
    expect((await fetch(ready.baseUrl + retired)).status).toBe(410);
  });

  it('announces a server with the dialects of --dialect', async () => {
    const { ready } = await serve(['--dialect', 'open-source,rs256', '--dialect', 'storage-host']);
    const header = String(ready.adminToken).split('.')[0] ?? '';
    expect(JSON.parse(Buffer.from(header, 'base64url').toString()).alg).toBe('RS256');
    const absent = pathOf(operations['list-audit-logs']);
    expect((await fetch(ready.baseUrl + absent)).status).toBe(404);
  });

  it('announces a server that accepts devices up to --device-limit', async () => {
    const { ready } = await serve(['--device-limit', '2']);
    const response = await fetch(ready.baseUrl + pathOf(managementOperations['get-device-limit']), {
      headers: { Authorization: `Bearer ${ready.adminToken}` },
    });
    expect(await response.json()).toEqual({ limit: 2 });
  });

  it('contains the password that the environment sets', async () => {
    const command = startCommand(['serve', ...free, '--json'], {
      FLEETBED_ADMIN_PASSWORD: 'of-the-environment',
    });
    running = command;
    const ready = JSON.parse(await command.waitForOutput('stdout', /\n/));
    expect(ready.adminPassword).toBe('of-the-environment');
  });
});

describe('serve --dialect without a name', () => {
  it('prints what every dialect changes, and starts nothing', async () => {
    const { stdout, code } = await runCommand(['serve', '--dialect']);
    expect(code).toBe(0);
    for (const [name, { differs, contract, metIn }] of Object.entries(dialects)) {
      for (const sentence of [name, differs, contract, metIn]) expect(stdout).toContain(sentence);
    }
  });

  it('prints one JSON value with --json', async () => {
    const { stdout, code } = await runCommand(['serve', '--dialect', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(dialects);
  });

  it.each([
    [['--dialect', 'open-sauce'], 'open-source, split-configuration'],
    [['--date', '2027-02-30'], '2027-08-25'],
    [['--device-limit', '-1'], 'from 0 to 1000000'],
    [['--provisioning-delay', 'soon'], 'a number with ms, s, m, h or d'],
    [['--provisioning-delay', '2h'], 'from 0s to 1h, in whole milliseconds'],
  ])('refuses %j, and names the accepted values', async (args, sentence) => {
    const { stderr, code } = await runCommand(['serve', ...free, ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
  });
});

describe('the end of serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'comes within 2 s of %s, with exit code 0 and close code 1001 for sockets',
    async (signal) => {
      const { ready, running } = await serve(['--auto-accept']);
      const [token] = await authenticateDevices(ready, 1);
      const url = ready.baseUrl.replace('http', 'ws') + pathOf(operations.connect);
      const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${token}` } });
      await once(socket, 'open');
      const closed = once(socket, 'close');
      const events = await fetch(`${ready.controlUrl}/events`, {
        headers: { Authorization: `Bearer ${ready.controlToken}` },
      });
      const stream = events.text();
      const startedMs = systemClock.monotonicMs();
      const { code, stderr } = await running.end(signal);
      expect(systemClock.monotonicMs() - startedMs).toBeLessThan(END_MAX_MS);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect((await closed)[0]).toBe(1001);
      expect(await stream).toContain('connected');
    },
  );
});
