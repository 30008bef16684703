import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CleanupResult } from '../../../conformance/cleanup/cleanup.ts';
import { readLedger } from '../../../conformance/cleanup/ledger-reading.ts';
import { CleanupLedgerFile } from '../../../conformance/context/cleanup-ledger.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import {
  type RunningCommand,
  runCommand,
  startCommand,
  startServe,
} from '../../testing/built-command.ts';

const KILL_MAX_MS = 120_000;
const area = 'deployment-status/';

let server: RunningCommand;
let ready: ServerReady;
let folder: string;
/** The content of the ledger of a killed run. */
let killed: string;

beforeAll(async () => {
  ({ running: server, ready } = await startServe());
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-killed-'));
});

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true });
});

const args = (...more: readonly string[]) => [
  'conform',
  ...more,
  ...['--url', ready.baseUrl, '--password', ready.adminPassword],
];

/** The environment of a user who has not started the server, and so has no run file of it. */
const elsewhere = () => ({ XDG_RUNTIME_DIR: folder, XDG_STATE_HOME: folder });

const clean = (ledger: string) => args('cleanup', ledger, '--json');

/** Returns the numbers of devices, artifacts and unfinished deployments on the server. */
async function leftOnServer() {
  const headers = { Authorization: `Bearer ${ready.adminToken}` };
  const get = async (path: string) =>
    (await fetch(`${ready.baseUrl}/api/management/${path}`, { headers })).json();
  const deployments = (await get('v2/deployments/deployments?per_page=500')) as {
    status: string;
  }[];
  return {
    devices: ((await get('v2/devauth/devices?per_page=500')) as unknown[]).length,
    artifacts: ((await get('v2/deployments/artifacts?per_page=100')) as unknown[]).length,
    deployments: deployments.filter(({ status }) => status !== 'finished').length,
  };
}

const control = () => ['--control-url', ready.controlUrl, '--control-token', ready.controlToken];

/** Returns the names of the tenants on the server. */
async function tenantsOnServer(): Promise<readonly string[]> {
  const headers = { Authorization: `Bearer ${ready.controlToken}` };
  const listed = await (await fetch(`${ready.controlUrl}/tenants`, { headers })).json();
  return (listed as { name: string }[]).map(({ name }) => name);
}

/** Starts a run and kills it with SIGKILL once it has created resources of every kind. */
async function killedRun(ledger: string): Promise<void> {
  const run = startCommand(args('--jobs', '8', '--ledger', ledger, area));
  const kinds = () =>
    existsSync(ledger) && statSync(ledger).size > 0
      ? new Set(readLedger(ledger).remainders.map(({ resource }) => resource.kind))
      : new Set();
  while (kinds().size < 3) await systemClock.sleep(5);
  await run.end('SIGKILL');
}

describe('a conform run that was killed with -9', { timeout: KILL_MAX_MS }, () => {
  it('is cleaned up through its ledger, which is then deleted', async () => {
    const ledger = join(folder, 'killed.ledger');
    await killedRun(ledger);
    killed = readFileSync(ledger, 'utf8');
    const left = await leftOnServer();
    expect(left.devices).toBeGreaterThan(0);
    expect(left.artifacts).toBeGreaterThan(0);
    const { code, stdout, stderr } = await runCommand(clean(ledger));
    expect(code, stderr).toBe(0);
    const { removed, stayed } = JSON.parse(stdout) as CleanupResult;
    expect(stayed).toEqual([]);
    expect(removed.length).toBeGreaterThanOrEqual(left.devices + left.artifacts);
    expect(await leftOnServer()).toEqual({ devices: 0, artifacts: 0, deployments: 0 });
    expect([existsSync(ledger), existsSync(`${ledger}.lock`)]).toEqual([false, false]);
  });

  it('is cleaned up even if the first cleanup is killed too', async () => {
    const ledger = join(folder, 'twice.ledger');
    await killedRun(ledger);
    const first = startCommand(clean(ledger));
    await first.waitForOutput('stderr', /^removed /m);
    await first.end('SIGKILL');
    const { code, stderr } = await runCommand(clean(ledger));
    expect(code, stderr).toBe(0);
    expect(existsSync(ledger)).toBe(false);
    expect(await leftOnServer()).toEqual({ devices: 0, artifacts: 0, deployments: 0 });
  });

  it('has its tenants removed only with access to the control listener', async () => {
    const ledger = join(folder, 'tenants.ledger');
    const run = startCommand([
      ...args('--jobs', '8', '--ledger', ledger, 'tenants/'),
      ...control(),
    ]);
    const tenants = () =>
      (existsSync(ledger) ? readFileSync(ledger, 'utf8') : '').match(/tenant"/g);
    while ((tenants()?.length ?? 0) < 3) await systemClock.sleep(5);
    await run.end('SIGKILL');
    const left = (await tenantsOnServer()).filter((name) => name.startsWith('conformance-'));
    const without = await runCommand(clean(ledger), elsewhere());
    expect(without.code).toBe(1);
    expect(without.stdout).toContain('only the control listener can remove a tenant');
    const { code, stdout, stderr } = await runCommand([...clean(ledger), ...control()]);
    expect(code, stderr).toBe(0);
    const { removed, stayed } = JSON.parse(stdout) as CleanupResult;
    expect(stayed).toEqual([]);
    expect(removed).toEqual(expect.arrayContaining(left.map((name) => `tenant ${name}`)));
    expect((await tenantsOnServer()).join()).not.toContain('conformance-');
  });

  it('leaves no secret in its ledger', () => {
    expect(killed).toContain('conformance-');
    expect(killed).not.toContain(ready.adminPassword);
    expect(killed).not.toMatch(/eyJ|PRIVATE|password|token/i);
  });
});

describe('fleetbed conform cleanup', () => {
  it('fails and names a tenant that it cannot remove', async () => {
    const ledger = join(folder, 'tenant.ledger');
    const head = { runId: 'cafe', baseUrl: ready.baseUrl, startedAt: '2026-01-31T12:00:00Z' };
    const file = CleanupLedgerFile.open(ledger, head);
    await file.announce({ kind: 'tenant', name: 'conformance-cafe-1' }, 'time/a-case');
    file.close();
    const { code, stdout } = await runCommand(clean(ledger), elsewhere());
    expect(code).toBe(1);
    const { stayed } = JSON.parse(stdout) as CleanupResult;
    expect(stayed).toEqual([expect.stringMatching(/^tenant conformance-cafe-1: /)]);
  });

  it('keeps the ledger entries of resources on another server', async () => {
    const ledger = join(folder, 'other.ledger');
    const head = {
      runId: 'cafe',
      baseUrl: 'http://127.0.0.1:9',
      startedAt: '2026-01-31T12:00:00Z',
    };
    const file = CleanupLedgerFile.open(ledger, head);
    const entry = await file.announce({ kind: 'device', identity: { serial: 'cafe-1' } }, 'a/case');
    entry.made('0f7c35b6-5f0c-4c6b-9f0a-5a5a5a5a5a5a');
    const busy = await runCommand(clean(ledger));
    expect([busy.code, busy.stderr]).toEqual([3, expect.stringContaining('is using the ledger')]);
    file.close();
    const ledgerBefore = readFileSync(ledger, 'utf8');
    const refused = await runCommand(clean(ledger));
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(/belongs to http:\/\/127\.0\.0\.1:9, not to .*add --force/);
    expect(readFileSync(ledger, 'utf8')).toBe(ledgerBefore);
    const forced = await runCommand([...clean(ledger), '--force']);
    expect(forced.code, forced.stderr).toBe(0);
    expect(JSON.parse(forced.stdout)).toMatchObject({ removed: [], absent: ['device cafe-1'] });
    expect(existsSync(ledger)).toBe(false);
  });

  it.each<[readonly string[], number, RegExp]>([
    [['no-such.ledger', '--token', 'x'], 3, /the ledger no-such\.ledger cannot be used/],
    [['package.json', '--token', 'x'], 3, /it does not start with the first line of a ledger/],
    [
      ['package.json'],
      2,
      /needs --password \(env: .* or --token \(env: .*, or --control-url to remove only tenants/,
    ],
    [['package.json', '--control-url', 'http://x'], 2, /--control-url also needs --control-token/],
  ])('refuses the arguments %j with one line', async (given, exitCode, sentence) => {
    const { code, stderr } = await runCommand(['conform', 'cleanup', ...given]);
    expect(code).toBe(exitCode);
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
