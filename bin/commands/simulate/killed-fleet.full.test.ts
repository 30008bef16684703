import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { type Random, seededRandom } from '../../../fixtures/base/random.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { type RunningCommand, runCommand, startCommand } from '../../testing/built-command.ts';
import { releaseName, type ServedRelease, serveRelease } from '../../testing/served-release.ts';

const RUN_MAX_MS = 400_000;
const DEVICES = 30;
const KILLS = 30;
/** Greatest number of events after the first update event before the simulator is killed. */
const LIFE_MAX_EVENTS = 400;

const list = (statuses: string) => statuses.split(' ').filter((status) => status !== '');
const whole = list('downloading installing rebooting success');
/** The outcome of each behaviour and the statuses that its device reports, killed or not. */
const ends: Readonly<Record<string, readonly [outcome: string, reported: readonly string[]]>> = {
  steady: ['success', whole],
  'crash-and-resume': ['success', whole],
  'clock-skew': ['success', whole],
  'reports-success-without-installing': ['success', list('success')],
  'failing-install': ['failure', list('downloading installing failure')],
  'big-logs': ['failure', list('downloading installing failure')],
  'failing-commit': ['failure', list('downloading installing rebooting failure')],
  'reboot-loop': ['failure', list('downloading installing rebooting failure')],
  'wrong-checksum': ['failure', list('downloading failure')],
  refuse: ['failure', list('failure')],
  'aborted-midway': ['aborted', list('downloading installing')],
};
/** Long installations and reboots on the device, so that a fleet outlives many simulators. */
const lengths: Readonly<Record<string, readonly [installMs: number, rebootMs: number]>> = {
  steady: [6000, 6000],
  'failing-install': [8000, 300],
  'aborted-midway': [12_000, 300],
  'failing-commit': [2000, 3000],
  'reboot-loop': [300, 2500],
};

let served: ServedRelease;
let folder: string;

beforeAll(async () => {
  served = await serveRelease();
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-killed-'));
}, RUN_MAX_MS);

afterAll(async () => {
  await served.running.end();
  rmSync(folder, { recursive: true });
});

function argsOf(fleet: string): string[] {
  const { baseUrl, adminPassword } = served.ready;
  const parameters = Object.entries(lengths).flatMap(([name, [installMs, rebootMs]]) => [
    ...['--behaviour-parameter', `${name}.installMs=${installMs}`],
    ...['--behaviour-parameter', `${name}.rebootMs=${rebootMs}`],
  ]);
  return [
    ...['simulate', '--url', baseUrl, '--accept', '--password', adminPassword],
    ...['--state', join(folder, fleet), '--seed', fleet, '--devices', String(DEVICES)],
    ...['--deploy', releaseName, '--keys', 'rsa=1,ecdsa=1,ed25519=1', '--rsa-pool', '2'],
    ...['--poll', '200ms', '--ramp', '200ms', '--network', 'latency: 2ms, bytesPerSecond: 10000'],
    ...['--behaviour-parameter', 'crash-and-resume.offMs=1500', ...parameters],
    ...['--behaviour-parameter', 'big-logs.linesCount=20'],
    ...Object.keys(ends).flatMap((name) => ['--behaviour', `${name}=1`]),
    ...['--until', 'settled', '--duration', '60s', '--drain', '0s'],
  ];
}

/** Returns the states of the unfinished updates that a killed simulator has left behind. */
function leftMidway(fleet: string): readonly string[] {
  const states = new Map<number, string>();
  for (const line of readFileSync(join(folder, fleet, 'fleet.ndjson'), 'utf8').split('\n')) {
    const [, index, state] =
      /"device":(\d+),.*"deployment":\{.*?"state":"([\w-]+)"/.exec(line) ?? [];
    if (index !== undefined && state !== undefined) states.set(Number(index), state);
  }
  return [...states.values()].filter((state) => !/success|failure|aborted|already/.test(state));
}

/** Kills one simulator of a fleet; returns false when the simulator had ended before. */
async function killSimulator(fleet: string, chance: Random): Promise<boolean> {
  const simulator = startCommand([...argsOf(fleet), '--events', '-']);
  const events = chance.integer(1, LIFE_MAX_EVENTS);
  await Promise.race([eventsWritten(simulator, events), simulator.ended]);
  return (await simulator.end('SIGKILL')).code === null;
}

/**
 * Resolves after this many events since the first update: events, because machines differ in speed.
 */
function eventsWritten({ child }: RunningCommand, events: number): Promise<void> {
  let text = '';
  return new Promise((resolve) => {
    child.stdout?.on('data', (more: string) => {
      text += more;
      const since = text.indexOf('"kind":"update"');
      if (since >= 0 && text.slice(since).split('\n').length > events) resolve();
    });
  });
}

async function runToEnd(fleet: string): Promise<FleetResult> {
  const { code, stdout, stderr } = await runCommand([...argsOf(fleet), '--json']);
  expect([exitCodes.pass, exitCodes.generatorLimited], stderr).toContain(code);
  return JSON.parse(stdout);
}

/** Kills simulators of successive fleets until this many kills have hit unfinished updates. */
async function killMany(lane: string, kills: number): Promise<readonly string[]> {
  const chance = seededRandom(`kills/${lane}`);
  const hit: (readonly string[])[] = [];
  for (let fleets = 1; hit.length < kills; fleets++) {
    const fleet = `fleet-${lane}${fleets}`;
    while (hit.length < kills && (await killSimulator(fleet, chance))) {
      const midway = leftMidway(fleet);
      if (midway.length > 0) hit.push(midway);
    }
    expectAsUnkilled(await runToEnd(fleet));
  }
  expect(hit).toHaveLength(kills);
  return hit.flat();
}

function expectAsUnkilled({ devices, reconciliation }: FleetResult): void {
  expect(devices).toHaveLength(DEVICES);
  for (const { index, behaviour, outcome, reported, artifactName } of devices) {
    expect([outcome, reported], `${index} ${behaviour}`).toEqual(ends[behaviour]);
    const isInstalled = outcome === 'success' && reported.length === whole.length;
    expect(artifactName === releaseName).toBe(isInstalled);
  }
  expect(reconciliation).toMatchObject({ checked: true, ok: true, differences: [] });
}

it('a fleet that is killed often reaches the same outcomes', { timeout: RUN_MAX_MS }, async () => {
  const lanes = [killMany('a', KILLS / 2), killMany('b', KILLS / 2)];
  const states = new Set((await Promise.all(lanes)).flat());
  for (const state of ['downloading', 'installing', 'rebooting']) expect(states).toContain(state);
});

it('a fleet continues with the deployment during whose creation it was killed', {
  timeout: RUN_MAX_MS,
}, async () => {
  await stallOneDeployment();
  const countBefore = await deploymentsCount();
  const simulator = startCommand(argsOf('unmade'));
  while ((await deploymentsCount()) === countBefore) await systemClock.sleep(20);
  expect((await simulator.end('SIGKILL')).code).toBeNull();
  const { funnel } = await runToEnd('unmade');
  expect(funnel.success + funnel.failure + funnel.aborted).toBe(DEVICES);
});

/** Makes the server create the next deployment without ever answering the request. */
async function stallOneDeployment(): Promise<void> {
  const { controlUrl, controlToken } = served.ready;
  const file = join(folder, 'faults.json');
  const match = { operation: 'create-deployment' };
  const rule = { id: 'silent', match, when: 'after', script: ['stall'] };
  writeFileSync(file, JSON.stringify({ rules: [rule] }));
  const args = ['faults', 'add', file, '--control-url', controlUrl];
  const { code, stderr } = await runCommand(args, { FLEETBED_CONTROL_TOKEN: controlToken });
  expect(code, stderr).toBe(0);
}

async function deploymentsCount(): Promise<number> {
  const response = await served.manage(pathOf(managementOperations['list-deployments']));
  return ((await response.json()) as unknown[]).length;
}
