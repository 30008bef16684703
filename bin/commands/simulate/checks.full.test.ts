import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ActiveDefect } from '../../../conformance/self-test/active-defect.ts';
import { allDefects } from '../../../conformance/self-test/defects/index.ts';
import { DefectProxy } from '../../../conformance/self-test/proxy.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { seededRandom } from '../../../fixtures/base/random.ts';
import { vendorNames } from '../../../fixtures/contract/vendor-names.ts';
import { sampleDevices } from '../../../simulator/engine/sample.ts';
import {
  type FleetPlan,
  type FleetResult,
  simulateFleet,
} from '../../../simulator/engine/simulate-fleet.ts';
import { planDefaults } from '../../../simulator/plan/plan.ts';
import { token } from '../../../simulator/testing/client-fixture.ts';
import { emptyConfiguration, StubServer } from '../../../simulator/testing/stub-server.ts';
import { runCommand } from '../../testing/built-command.ts';
import { FleetOnTestbed, type PlanChange } from '../../testing/fleet-on-testbed.ts';
import { judgeFor } from './checks.ts';

const RUN_MAX_MS = 60_000;
const headerPrefix = 'X-SVC';

type Row = NonNullable<FleetResult['checks']>['requirements'][number];

function rowsOf({ checks }: FleetResult): readonly Row[] {
  return checks?.requirements ?? [];
}

function violatedIn(result: FleetResult): readonly string[] {
  return rowsOf(result).flatMap(({ requirement, violated }) => (violated > 0 ? requirement : []));
}

/** Runs a fleet in which every device is checked. */
async function runChecked(fleet: FleetOnTestbed, change: PlanChange): Promise<FleetResult> {
  const checkShare = 1;
  const judge = await judgeFor({ checkShare, headerPrefix });
  return fleet.run({ checkShare, judge, pollIntervalMs: 100, ...change });
}

describe('the checks of a fleet', { timeout: RUN_MAX_MS }, () => {
  let fleet: FleetOnTestbed;
  let proxy: DefectProxy;

  beforeAll(async () => {
    fleet = await FleetOnTestbed.start();
    proxy = await DefectProxy.open({
      targetUrl: fleet.testbed.baseUrl,
      names: vendorNames(headerPrefix),
      userToken: '',
      clock: systemClock,
      random: seededRandom('checks'),
    });
  });
  afterEach(() => proxy.activate(undefined));
  afterAll(async () => {
    await proxy.close();
    await fleet.testbed.close();
  });

  it.each([
    ['request-ids-differ', 'errors.request-id-equals-header'],
    ['token-is-quoted', 'auth.token-is-plain-text'],
    ['pending-is-201', 'next.v2-pending-is-200'],
    ['nothing-is-202', 'next.nothing-is-204'],
  ])('report for the defect %s only the requirement it violates', async (id, requirement) => {
    const defect = allDefects.find((each) => each.id === id);
    if (defect === undefined) throw new Error(`there is no defect ${id}`);
    expect(defect.violates).toContain(requirement);
    proxy.activate(new ActiveDefect(defect));
    const change = { baseUrl: proxy.baseUrl, durationMs: 1500, seed: id };
    const result = await runChecked(fleet, { behaviours: ['steady', 'aborted-midway'], ...change });
    expect(violatedIn(result)).toEqual([requirement]);
  });
});

const strange = [
  ...['steady', 'failing-install', 'aborted-midway', 'ignores-409', 'never-renews'],
  ...['keeps-a-finished-deployments-id', 'key-rotation', 'cloned-identity', 'clock-skew'],
  ...['crash-and-resume', 'reboot-loop', 'refuse', 'floods', 'alert-storm', 'wrong-checksum'],
];

describe('a good server under the checks of a fleet', { timeout: RUN_MAX_MS }, () => {
  it('violates no requirement for any device with any allowed variation of responses', async () => {
    const fleet = await FleetOnTestbed.start({ variationSeed: 'one' });
    try {
      const result = await runChecked(fleet, { behaviours: strange, durationMs: 4000 });
      expect(violatedIn(result)).toEqual([]);
      expect(result.checks?.devices).toBe(strange.length);
      const judged = rowsOf(result).filter((row) => row.judged > 0);
      expect(judged.length).toBeGreaterThan(40);
    } finally {
      await fleet.testbed.close();
    }
  });
});

describe('a requirement that is violated only under load', { timeout: RUN_MAX_MS }, () => {
  const LIMIT_PER_SECOND = 60;

  it('is reported with the stage and the rate of its first violation', async () => {
    const askedMs: number[] = [];
    const server = await StubServer.start({
      'post-auth-request': () => ({ status: 200, body: token }),
      'put-attributes': () => ({ status: 200 }),
      'get-configuration': emptyConfiguration,
      'put-configuration': () => ({ status: 204 }),
      'post-monitor-configuration': () => ({ status: 204 }),
      'post-next-deployment-v2': () => {
        const nowMs = systemClock.monotonicMs();
        askedMs.push(nowMs);
        while ((askedMs[0] ?? nowMs) < nowMs - 1000) askedMs.shift();
        return { status: askedMs.length > LIMIT_PER_SECOND ? 202 : 204 };
      },
    });
    const plan: FleetPlan = {
      ...planDefaults,
      baseUrl: server.baseUrl,
      devices: 40,
      keys: { rsa: 0, ecdsa: 0, ed25519: 1 },
      seed: 'load',
      pollIntervalMs: 200,
      inventoryIntervalMs: 60_000,
      rampMs: 0,
      drainMs: 0,
      headerPrefix,
      requestTimeLimitMs: 5000,
      checkShare: 0.5,
      stages: [
        { kind: 'ramp', devices: 4, durationMs: 1500 },
        { kind: 'burst', devices: 40, durationMs: 2500 },
      ],
    };
    const { signal } = new AbortController();
    const judge = await judgeFor(plan);
    const result = await simulateFleet(plan, { clock: systemClock, signal, judge });
    await server.close();
    expect(violatedIn(result)).toEqual(['next.nothing-is-204']);
    const row = rowsOf(result).find(({ requirement }) => requirement === 'next.nothing-is-204');
    const calm = row?.stages.find(({ stage }) => stage.includes('ramp'));
    const burst = row?.stages.find(({ stage }) => stage.includes('burst'));
    expect(calm).toMatchObject({ violated: 0 });
    expect(calm?.judged).toBeGreaterThan(0);
    expect(calm?.requestsPerSecond).toBeLessThan(LIMIT_PER_SECOND);
    expect(burst?.violated).toBeGreaterThan(0);
    expect(burst?.requestsPerSecond).toBeGreaterThan(LIMIT_PER_SECOND);
    expect(row?.firstViolation).toMatchObject({ stage: burst?.stage, response: { status: 202 } });
    const calmRate = calm?.requestsPerSecond ?? 0;
    expect(row?.firstViolation?.requestsPerSecond).toBeGreaterThan(calmRate);
    expect(row?.violatedAt?.maxPerSecond).toBeGreaterThan(LIMIT_PER_SECOND);
    expect(JSON.stringify(result.checks)).not.toContain(token);
  });
});

describe('fleetbed simulate --check-share', { timeout: RUN_MAX_MS }, () => {
  let folder: string;
  let server: StubServer;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fleetbed-checks-'));
    server = await StubServer.start({
      'post-auth-request': () => ({ status: 200, body: token }),
      'put-attributes': () => ({ status: 204 }),
      'get-configuration': emptyConfiguration,
      'put-configuration': () => ({ status: 204 }),
      'post-monitor-configuration': () => ({ status: 204 }),
      'post-next-deployment-v2': () => ({ status: 204 }),
    });
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const fleet = ['--devices', '8', '--keys', 'ed25519=1', '--ramp', '0', '--poll', '300ms'];
  const runFleet = (...more: string[]) => {
    const reach = ['--url', server.baseUrl, '--seed', 'cut', '--iterations', '3'];
    return runCommand(['simulate', ...reach, ...fleet, '--check-share', '50%', ...more]);
  };

  it('fails with exit code 1 and names the first violation, its stage and rate', async () => {
    const { code, stdout } = await runFleet();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^Checks: 4 devices watched, \d+ requests: 1 of \d+ requirements VIOLATED/m,
    );
    expect(stdout).toMatch(/^ {2}inventory\.put-is-200 +\d+ of \d+$/m);
    expect(stdout).toMatch(/first: device \d, .*, put-attributes, at [\d.]+ requests\/s/);
    expect(stdout).toContain('expected the status to be 200');
  });

  it('checks the same devices with two processes, and adds up their checks', async () => {
    const sample = sampleDevices({ devices: 8, seed: 'cut', checkShare: 0.5 });
    const [alone, two] = await Promise.all([
      runFleet('--json'),
      runFleet('--json', '--processes', '2'),
    ]);
    expect([alone.code, two.code]).toEqual([1, 1]);
    const results = [alone, two].map(({ stdout }): FleetResult => JSON.parse(stdout));
    for (const result of results) {
      expect(result.checks?.devices).toBe(sample.size);
      expect(violatedIn(result)).toEqual(['inventory.put-is-200']);
      const row = rowsOf(result).find(({ violated }) => violated > 0);
      expect(row).toMatchObject({ judged: sample.size, violated: sample.size });
      expect(sample).toContain(row?.firstViolation?.device);
    }
  });

  it('adds up the checks when the reports of shards are merged', async () => {
    const files = [0, 1].map((index) => join(folder, `shard-${index}.json`));
    const parts = files.map((file, index) =>
      runFleet('--shard', `${index}/2`, '--report', `json=${file}`),
    );
    await Promise.all(parts);
    const whole = join(folder, 'whole.json');
    const { code } = await runCommand(['report', 'merge', ...files, '--out', whole]);
    expect(code).toBe(1);
    const merged: FleetResult = JSON.parse(readFileSync(whole, 'utf8'));
    expect(merged.checks?.devices).toBe(4);
    expect(rowsOf(merged).find(({ violated }) => violated > 0)).toMatchObject({
      judged: 4,
      violated: 4,
    });
  });

  it.each(['0', '2', '101%', 'some'])('refuses the share %s', async (text) => {
    const { code, stderr } = await runCommand(['simulate', '--check-share', text]);
    expect(code).toBe(2);
    expect(stderr).toContain('Accepted: a share above 0, such as 1% or 0.01, at most 100%.');
  });
});
