import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { Deployment } from '../../../fixtures/contract/management/deployments.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { type RunningCommand, runCommand, startCommand } from '../../testing/built-command.ts';
import { type ServedRelease, serveRelease } from '../../testing/served-release.ts';

const RUN_MAX_MS = 60_000;

let server: RunningCommand;
let ready: ServedRelease['ready'];
let manage: ServedRelease['manage'];
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-processes-'));
  ({ running: server, ready, manage } = await serveRelease());
}, RUN_MAX_MS);

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true });
});

async function deployments(): Promise<readonly Deployment[]> {
  return (await (await manage(pathOf(managementOperations['list-deployments']))).json()) as never;
}

function args(...more: string[]): string[] {
  const login = ['--accept', '--password', ready.adminPassword];
  const reach = ['--url', ready.baseUrl, ...login, '--poll', '200ms', '--ramp', '0'];
  return ['simulate', '--json', ...reach, '--keys', 'ecdsa=1,ed25519=1', ...more];
}

async function resultOf(
  running: Promise<Awaited<RunningCommand['ended']>>,
  exitCode: ExitCode = exitCodes.pass,
): Promise<FleetResult> {
  const { code, stdout, stderr } = await running;
  expect(code, stderr).toBe(exitCode);
  return JSON.parse(stdout);
}

/** Returns the IDs of the child processes of a process. */
function childrenOf({ child }: RunningCommand): number[] {
  const file = `/proc/${child.pid}/task/${child.pid}/children`;
  return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number);
}

async function untilThere(file: string): Promise<void> {
  while (!existsSync(file)) await systemClock.sleep(20);
}

describe('a fleet in several processes', { timeout: RUN_MAX_MS }, () => {
  it('has the same IDs, keys, behaviours and outcomes with one, two and three processes', async () => {
    const rowsWith = async (processes: string) => {
      const more = ['--devices', '6', '--seed', 'same', '--duration', '3s'];
      const mixed = ['--behaviour', 'steady=1,slow=1', '--processes', processes];
      return (await resultOf(runCommand(args(...more, ...mixed)))).devices;
    };
    const alone = await rowsWith('1');
    expect(alone.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(alone.every(({ deviceId }) => deviceId !== undefined)).toBe(true);
    expect(await rowsWith('2')).toEqual(alone);
    expect(await rowsWith('3')).toEqual(alone);
  });

  it('takes over the shard of a killed process, and reports the takeover', async () => {
    const file = join(folder, 'ready.json');
    // Installations last long enough that none is finished when the process is killed.
    const slow = ['--behaviour-parameter', 'steady.installMs=4000'];
    const more = ['--devices', '8', '--seed', 'lossy', '--deploy', 'release-2', ...slow];
    const ends = ['--until', 'settled', '--duration', '40s', '--ready-file', file];
    const countBefore = (await deployments()).length;
    const run = startCommand(args(...more, ...ends, '--processes', '2'));
    await untilThere(file);
    const [victim] = childrenOf(run);
    if (victim === undefined) throw new Error('the fleet has no process that could be killed');
    process.kill(victim, 'SIGKILL');
    const result = await resultOf(run.ended);
    expect(result.devices.map(({ outcome }) => outcome)).toEqual(Array(8).fill('success'));
    expect(result.reconciliation).toMatchObject({ checked: true, ok: true });
    expect(result.spread).toMatchObject({
      lost: [],
      takeovers: [
        {
          from: `process ${victim}`,
          reason: `process ${victim} was ended by SIGKILL`,
          kept: { exchanges: expect.any(Number), untilMs: expect.any(Number) },
        },
      ],
      missingDeviceMs: expect.any(Number),
    });
    const kept = result.stages.find(({ name }) => name === 'of failed workers');
    // All devices had made contact, and the killed process had reported some of these contacts.
    const contacts = kept?.latencies.find(({ operation }) => operation === 'post-auth-request');
    expect(contacts?.count).toBeGreaterThan(0);
    expect(result.spread?.missingDeviceMs).toBeGreaterThan(0);
    expect(result.machines).toMatchObject([{ processes: 2 }]);
    expect((await deployments()).length).toBe(countBefore + 1);
  });

  it('uses every core with "auto", and has one complete result at the end', async () => {
    const file = join(folder, 'ready-everywhere.json');
    const devices = availableParallelism() + 1;
    const more = ['--devices', String(devices), '--ready-file', file, '--processes', 'auto'];
    const run = startCommand(args(...more));
    await untilThere(file);
    // On one core, the first process runs the fleet without child processes.
    const cores = availableParallelism() === 1 ? 0 : availableParallelism();
    expect(childrenOf(run)).toHaveLength(cores);
    const result = await resultOf(run.end('SIGINT'), exitCodes.interrupted);
    expect(result.ended).toBe('interrupted');
    expect(result.devices).toHaveLength(devices);
    expect(result.generator.processes).toHaveLength(Math.max(1, cores));
  });

  it('leaves no child process running when its main process is killed', async () => {
    const file = join(folder, 'ready-to-die.json');
    const run = startCommand(args('--devices', '4', '--processes', '2', '--ready-file', file));
    await untilThere(file);
    const children = childrenOf(run);
    expect(children).toHaveLength(2);
    await run.end('SIGKILL');
    for (const pid of children) while (existsSync(`/proc/${pid}`)) await systemClock.sleep(20);
  });

  it('reports a failure of all processes in one sentence', async () => {
    const more = ['--url', 'http://127.0.0.1:1', '--devices', '4', '--processes', '2'];
    const { code, stderr } = await runCommand(['simulate', ...more]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^fleetbed: http:\/\/127\.0\.0\.1:1: nothing listens there/m);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe('one shard of a fleet', { timeout: RUN_MAX_MS }, () => {
  const shardOf = (index: number, ...more: string[]) => {
    const report = ['--report', `json=${join(folder, `shard-${index}.json`)}`];
    const part = ['--devices', '5', '--seed', 'cut', '--shard', `${index}/2`, ...report];
    return resultOf(runCommand(args(...part, ...more)));
  };
  const settled = ['--until', 'settled', '--duration', '40s'];

  it('has its own deployment, and its report can be merged with the others', async () => {
    const [first, second] = await Promise.all([
      shardOf(0, '--deploy', 'release-2', ...settled),
      shardOf(1, '--deploy', 'release-2', ...settled),
    ]);
    expect(first.devices.map(({ index }) => index)).toEqual([0, 1]);
    expect(second.devices.map(({ index }) => index)).toEqual([2, 3, 4]);
    expect(second.deploymentId).not.toBe(first.deploymentId);
    const files = [0, 1].map((index) => join(folder, `shard-${index}.json`));
    const whole = join(folder, 'whole.json');
    const args = ['report', 'merge', ...files, '--out', whole];
    const { code, stderr } = await runCommand(args);
    expect(code, stderr).toBe(0);
    const merged: FleetResult = JSON.parse(readFileSync(whole, 'utf8'));
    expect(merged.devices).toEqual([...first.devices, ...second.devices]);
    expect(merged.funnel).toMatchObject({ devices: 5, success: 5 });
  });

  it('can join an existing deployment', async () => {
    const known = await shardOf(0, '--seed', 'joins', '--duration', '2s');
    const wanted = {
      name: 'made by somebody else',
      artifact_name: 'release-2',
      devices: known.devices.map(({ deviceId }) => deviceId),
    };
    const made = await manage(pathOf(managementOperations['create-deployment']), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(wanted),
    });
    const deploymentId = made.headers.get('location')?.split('/').at(-1) ?? '';
    const joined = await shardOf(0, '--seed', 'joins', '--deployment-id', deploymentId, ...settled);
    expect(joined).toMatchObject({ deploymentId, funnel: { devices: 2, success: 2 } });
    expect(joined.reconciliation.ok).toBe(true);
  });

  it.each([
    ['--shard 0/2', /'--shard <index\/count>' needs --seed TEXT/],
    ['--shard 2/2 --seed x', /Accepted: INDEX\/COUNT, such as 0\/4/],
    ['--shard 0/2 --seed x --processes 2', /'--shard <index\/count>' cannot be used with/],
    ['--processes 0', /Accepted: auto, or a whole number from 1 to 256/],
  ])('is refused for the arguments `%s`', async (options, sentence) => {
    const { code, stderr } = await runCommand(['simulate', ...options.split(' ')]);
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(sentence);
  });
});
