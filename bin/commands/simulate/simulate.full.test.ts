import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  Deployment,
  DeploymentDevice,
} from '../../../fixtures/contract/management/deployments.ts';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { type RunningCommand, runCommand, startCommand } from '../../testing/built-command.ts';
import { releaseName, type ServedRelease, serveRelease } from '../../testing/served-release.ts';

const RUN_MAX_MS = 60_000;

let server: RunningCommand;
let ready: ServedRelease['ready'];
let manage: ServedRelease['manage'];
let folder: string;

beforeAll(async () => {
  ({ running: server, ready, manage } = await serveRelease());
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-simulate-'));
});

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true });
});

/** Returns the response of the management API, whose type is not checked. */
async function read<HttpResponse>(path: string): Promise<HttpResponse> {
  return (await (await manage(path)).json()) as HttpResponse;
}

const reach = () => ['--url', ready.baseUrl, '--poll', '200ms', '--ramp', '0'];
const login = () => ['--accept', '--token', ready.adminToken];

/** Runs a fleet, and interrupts it once all devices have finished. */
async function runUntilSettled(args: readonly string[]): Promise<FleetResult> {
  const fleet = startCommand(['simulate', '--json', ...args]);
  await fleet.waitForOutput('stderr', /\b(\d+) of \1 finished/);
  const { code, stdout, stderr } = await fleet.end('SIGINT');
  expect(code, stderr).toBe(130);
  return JSON.parse(stdout);
}

describe('a fleet against the reference server', () => {
  it('reaches for each device the outcome that the server lists', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const behaviours = ['steady', 'failing-install', 'aborted-midway', 'already-installed'];
    const result = await runUntilSettled([
      ...[...reach(), ...login(), '--devices', '12', '--connect', '--deploy', releaseName],
      ...behaviours.flatMap((name) => ['--behaviour', `${name}=1`]),
    ]);
    const id = result.deploymentId ?? '';
    const list = pathOf(managementOperations['list-deployment-devices'], { id });
    const listed = await read<DeploymentDevice[]>(`${list}?per_page=100`);
    const byId = new Map(listed.map((device) => [device.id, device]));
    expect(listed).toHaveLength(12);
    for (const { deviceId = '', outcome, behaviour } of result.devices) {
      expect(byId.get(deviceId)?.status, behaviour).toBe(outcome);
    }
    expect(result.reconciliation).toMatchObject({
      checked: true,
      ok: true,
      sources: ['list', 'statistics', 'audit log'],
      lostReports: 0,
      duplicateReports: 0,
    });
    expect(
      new Set(result.devices.map(({ behaviour, outcome }) => `${behaviour} ${outcome}`)),
    ).toEqual(
      new Set([
        'steady success',
        'failing-install failure',
        'aborted-midway aborted',
        'already-installed already-installed',
      ]),
    );
    const withLog = listed.filter(({ log }) => log);
    expect(withLog.map(({ status }) => status)).toEqual(['failure', 'failure', 'failure']);
  });

  it('waits for acceptance without a login, creates no deployment, and decides nothing', async () => {
    const list = pathOf(managementOperations['list-deployments']);
    const deploymentsBefore = await read<Deployment[]>(list);
    const json = join(folder, 'fleet.json');
    const junit = join(folder, 'fleet.xml');
    const args = [...reach(), '--devices', '3', '--duration', '2s', '--seed', 'lonely'];
    const reports = ['--report', `json=${json}`, '--report', `junit=${junit}`];
    const { code, stdout } = await runCommand(['simulate', ...args, ...reports]);
    expect(code).toBe(6);
    expect(stdout).toMatch(
      /3 devices: NOT ACCEPTED, no device was accepted\n {2}server \S+, seed "lonely"/,
    );
    expect(stdout).toContain('\n  3 devices are not accepted: run with --accept');
    expect(stdout).toContain('Reconciliation: not checked');
    expect(stdout).toMatch(/\nrepeat: npx fleetbed simulate .*--devices 3 .*--seed lonely/);
    expect(JSON.parse(readFileSync(json, 'utf8')).funnel).toMatchObject({ pending: 3, offered: 0 });
    expect(readFileSync(junit, 'utf8')).toMatch(/<testsuites tests="4" failures="1".*skipped="2"/);
    expect(await read<Deployment[]>(list)).toEqual(deploymentsBefore);
  });

  it('writes the ready file once every device has made contact', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const file = join(folder, 'ready.json');
    const args = [...reach(), '--devices', '3', '--seed', 'ready', '--ready-file', file];
    await runCommand(['simulate', ...args, '--duration', '4s']);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      event: 'ready',
      baseUrl: ready.baseUrl,
      devices: 3,
      seed: 'ready',
      version: ready.version,
    });
  });

  it('is the same fleet for the same seed, except for RSA keys', async () => {
    const args = [...reach(), '--json', '--devices', '4', '--keys', 'ecdsa=1,ed25519=1'];
    const run = () => runCommand(['simulate', ...args, '--seed', 'twice', '--duration', '1s']);
    const [first, second] = [await run(), await run()];
    const serials = ({ stdout }: { stdout: string }) =>
      (JSON.parse(stdout) as FleetResult).devices.map(({ serial, keyType }) => [serial, keyType]);
    expect(serials(second)).toEqual(serials(first));
    const list = pathOf(managementOperations['list-devices']);
    const devices = await read<Device[]>(`${list}?per_page=500`);
    const own = new Set(serials(first).map(([serial]) => serial));
    const known = devices.filter(({ identity_data }) => own.has(String(identity_data.serial)));
    expect(known.map(({ auth_sets }) => auth_sets.length)).toEqual([1, 1, 1, 1]);
  });
});
