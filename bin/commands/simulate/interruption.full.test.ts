import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { type RunningCommand, startCommand } from '../../testing/built-command.ts';
import { releaseName, type ServedRelease, serveRelease } from '../../testing/served-release.ts';

const RUN_MAX_MS = 60_000;
const DEVICES = 4;
const HOUR_MS = 3_600_000;

let server: RunningCommand;
let ready: ServedRelease['ready'];
let manage: ServedRelease['manage'];
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-interruption-'));
  ({ running: server, ready, manage } = await serveRelease());
}, RUN_MAX_MS);

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true });
});

/** Matches the event of the run's deployment, and captures the ID. */
const ofDeployment = /"kind":"deployment"[^\n]*"deploymentId":"([^"]+)"/;

/** Starts a fleet with a deployment, and waits until each device is installing. */
async function installing(seed: string, installMs: number, ...more: readonly string[]) {
  const report = join(folder, `${seed}.json`);
  const run = startCommand([
    ...[
      'simulate',
      '--url',
      ready.baseUrl,
      '--accept',
      '--password',
      ready.adminPassword,
      '--seed',
      seed,
    ],
    ...['--devices', String(DEVICES), '--keys', 'ed25519=1', '--poll', '200ms', '--ramp', '0'],
    ...['--deploy', releaseName, '--behaviour-parameter', `steady.installMs=${installMs}`],
    ...['--events', '-', '--report', `json=${report}`, '--drain', '30s', ...more],
  ]);
  const all = `("kind":"update"[^\\n]*"state":"installing"[^]*){${DEVICES}}`;
  await run.waitForOutput('stdout', new RegExp(all));
  // The deployment event may come after update events from another process.
  await run.waitForOutput('stdout', ofDeployment);
  return { run, report };
}

/** Returns the processes that Ctrl-C reaches: the command and its children. */
function groupOf({ child: { pid = 0 } }: RunningCommand): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}

function interrupt(group: readonly number[]): void {
  for (const pid of group) process.kill(pid, 'SIGINT');
}

/** Returns the server's status of each device in the run's deployment. */
async function readStatuses({ stdout }: { readonly stdout: string }): Promise<string[]> {
  const [, id = ''] = ofDeployment.exec(stdout) ?? [];
  const path = pathOf(managementOperations['list-deployment-devices'], { id });
  const listed = (await (await manage(path)).json()) as { readonly status: string }[];
  return listed.map(({ status }) => status);
}

const all = (status: string): string[] => Array(DEVICES).fill(status);

describe.concurrent.each(['1', '2'])(
  'a fleet of %s process(es) during a deployment',
  (processes) => {
    const spread = ['--processes', processes];

    it('finishes its deployment after the first Ctrl-C, and starts nothing else', {
      timeout: RUN_MAX_MS,
    }, async () => {
      const { run, report } = await installing(`drained-${processes}`, 1500, ...spread);
      interrupt(groupOf(run));
      const ended = await run.ended;
      expect(ended.code, ended.stderr).toBe(exitCodes.interrupted);
      const result = JSON.parse(readFileSync(report, 'utf8')) as FleetResult;
      expect(result.ended).toBe('interrupted');
      expect(result.devices.map(({ outcome }) => outcome)).toEqual(all('success'));
      expect(result.funnel.updating).toBe(0);
      expect(result.reconciliation).toMatchObject({ checked: true, ok: true });
      expect(await readStatuses(ended)).toEqual(all('success'));
      // No device may request a deployment after its update.
      const afterUpdate = ended.stdout.slice(ended.stdout.lastIndexOf('"state":"success"'));
      expect(afterUpdate).not.toContain('next-deployment');
    });

    it('stops immediately at the second Ctrl-C, and still writes its summary', {
      timeout: RUN_MAX_MS,
    }, async () => {
      const { run, report } = await installing(`stopped-${processes}`, HOUR_MS, ...spread);
      const group = groupOf(run);
      expect(group).toHaveLength(processes === '1' ? 1 : 3);
      interrupt(group);
      await run.waitForOutput(
        'stderr',
        /stopping: open deployments have 30 s to finish; press Ctrl-C again to stop now/,
      );
      interrupt(group);
      const ended = await run.ended;
      expect(ended.code, ended.stderr).toBe(exitCodes.interrupted);
      expect(ended.stderr).toMatch(/^4 devices: INTERRUPTED, reconciliation agrees\n/m);
      const result = JSON.parse(readFileSync(report, 'utf8')) as FleetResult;
      expect(result).toMatchObject({
        ended: 'interrupted',
        reconciliation: { checked: true, ok: true },
      });
      expect(await readStatuses(ended)).toEqual(all('installing'));
      for (const pid of group) while (existsSync(`/proc/${pid}`)) await systemClock.sleep(20);
    });
  },
);
