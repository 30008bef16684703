import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { fleetReport } from '../report/text.ts';
import { fleetResultShape } from '../result/result.ts';
import { FakeServer, release } from '../testing/fake-server.ts';
import { planWith } from '../testing/plan-with.ts';
import { closedPortUrl } from '../testing/stub-server.ts';
import {
  ClientError,
  type FleetPlan,
  type FleetProgress,
  simulateFleet,
} from './simulate-fleet.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const clock = systemClock;

async function serverOf(...change: Parameters<typeof FakeServer.start>): Promise<FakeServer> {
  const environment = await FakeServer.start(...change);
  closers.push(() => environment.server.close());
  return environment;
}

function planFor(baseUrl: string, change: Partial<FleetPlan> = {}): FleetPlan {
  return planWith({
    baseUrl,
    keys: { rsa: 0, ecdsa: 1, ed25519: 1 },
    pollIntervalMs: 40,
    rampMs: 20,
    behaviours: ['steady', 'failing-install', 'aborted-midway', 'already-installed'].map((name) => {
      return { name, weight: 1 };
    }),
    deviceType: 'board',
    acceptWith: { email: 'admin@example.com', password: 'secret-word' },
    deploy: release,
    until: 'settled',
    ...change,
  });
}

function run(plan: FleetPlan, signal = new AbortController().signal) {
  return simulateFleet(plan, { clock, signal });
}

describe('a simulated run with a user', () => {
  it('takes a mixed fleet through a deployment and agrees on every device', async () => {
    const environment = await serverOf();
    const result = await run(planFor(environment.server.baseUrl));
    expect(result.ended).toBe('settled');
    expect(result.funnel).toMatchObject({
      devices: 8,
      offered: 6,
      downloading: 6,
      installing: 6,
      rebooting: 2,
      success: 2,
      failure: 2,
      aborted: 2,
      alreadyInstalled: 2,
      updating: 0,
      pending: 0,
    });
    expect(result.reconciliation).toEqual({
      checked: true,
      ok: true,
      deploymentsChecked: 1,
      withoutArtifact: 0,
      sources: ['list', 'statistics'],
      lostReports: 0,
      duplicateReports: 0,
      statistics: [],
      differences: [],
    });
    expect(v.parse(fleetResultShape, JSON.parse(JSON.stringify(result)))).toEqual(result);
    const [row] = result.devices;
    expect(row).toMatchObject({ index: 0, behaviour: 'steady', outcome: 'success' });
    expect(row?.reported).toEqual(['downloading', 'installing', 'rebooting', 'success']);
    expect(row?.artifactName).toBe(release);
    expect(result.deploymentId).toBe('deployment-1');
  });

  it('assigns behaviours and key types independently of each other', async () => {
    const environment = await serverOf();
    const { devices } = await run(planFor(environment.server.baseUrl));
    const pairs = new Set(devices.map(({ keyType, behaviour }) => `${keyType} ${behaviour}`));
    expect(pairs.size).toBe(8);
  });

  it('creates the same devices for the same seed', async () => {
    const one = await run(planFor((await serverOf()).server.baseUrl));
    const other = await run(planFor((await serverOf()).server.baseUrl));
    const facts = (result: typeof one) =>
      result.devices.map(({ serial, keyType, behaviour, outcome }) => {
        return { serial, keyType, behaviour, outcome };
      });
    expect(facts(other)).toEqual(facts(one));
  });

  it('never accepts a foreign device or deploys to it', async () => {
    const environment = await serverOf();
    const foreignDevice = {
      id: 'foreign',
      authSetId: 'set-0',
      identity_data: { mac: '02:00:00:00:00:00' },
      pubkey: 'a foreign key',
      accepted: false,
      status: undefined,
    };
    environment.devices.set('a foreign key', foreignDevice);
    await run(planFor(environment.server.baseUrl));
    expect(foreignDevice.accepted).toBe(false);
    expect(environment.deployedTo?.has('foreign')).toBe(false);
  });

  it('does not accept a foreign device with an identity of the fleet', async () => {
    const environment = await serverOf();
    const thief = {
      id: 'thief',
      authSetId: 'set-0',
      identity_data: { mac: '02:2a:7b:00:00:00', serial: 'FB-FE8C878709', sku: 'panel-7' },
      pubkey: '-----BEGIN PUBLIC KEY-----\nnot ours\n-----END PUBLIC KEY-----\n',
      accepted: false,
      status: undefined,
    };
    environment.devices.set('thief', thief);
    await run(planFor(environment.server.baseUrl));
    expect(thief.accepted).toBe(false);
  });

  it('names the device whose report the server lost', async () => {
    const environment = await serverOf((self) => ({
      'list-deployment-devices': () => ({
        status: 200,
        body: [...self.devices.values()].map(({ id, status }) => ({
          id,
          status: id === 'device-1' ? 'installing' : status,
          created: '2026-01-31T12:00:00Z',
          log: false,
        })),
      }),
    }));
    const result = await run(planFor(environment.server.baseUrl));
    expect(result.reconciliation.ok).toBe(false);
    expect(result.reconciliation.differences).toHaveLength(1);
    expect(result.reconciliation.differences[0]).toMatchObject({
      deviceId: 'device-1',
      serverStatus: 'installing',
    });
  });

  it('contains no secret in its result', async () => {
    const environment = await serverOf();
    const plan = planFor(environment.server.baseUrl, { tenantToken: 'tenant-secret' });
    const result = await run(plan);
    const text = JSON.stringify(result) + fleetReport(result);
    expect(text).not.toContain('secret-word');
    expect(text).not.toContain('tenant-secret');
    expect(text).not.toContain('PRIVATE KEY');
  });
});

describe('a run without a user', () => {
  function planAlone(baseUrl: string, change: Partial<FleetPlan> = {}): FleetPlan {
    const { acceptWith: _a, deploy: _d, until: _u, ...plan } = planFor(baseUrl);
    return { ...plan, ...change };
  }

  it('waits for acceptance, ends at its duration, and says that nothing was checked', async () => {
    const environment = await serverOf();
    const result = await run(planAlone(environment.server.baseUrl, { durationMs: 150 }));
    expect(result.ended).toBe('duration');
    expect(result.funnel).toMatchObject({ pending: 8, idle: 0 });
    expect(result.errors).toEqual([]);
    expect(result.reconciliation.checked).toBe(false);
    expect(fleetReport(result)).toContain('Reconciliation: not checked');
    expect(environment.server.requestsFor('list-devices')).toEqual([]);
  });

  it('ends with its summary when it is interrupted', async () => {
    const environment = await serverOf();
    const interrupt = new AbortController();
    const running = run(planAlone(environment.server.baseUrl), interrupt.signal);
    await environment.server.untilAsked('post-auth-request', 20);
    interrupt.abort();
    const result = await running;
    expect(result.ended).toBe('interrupted');
    expect(result.funnel.pending).toBe(8);
  });

  it('does not begin when it was interrupted before its start', async () => {
    const environment = await serverOf();
    const result = await run(planAlone(environment.server.baseUrl), AbortSignal.abort());
    expect(result).toMatchObject({ ended: 'interrupted', funnel: { noContact: 8 } });
    expect(environment.server.requestsFor('post-auth-request')).toEqual([]);
  });

  it('fails with one sentence when nothing listens at the base URL', async () => {
    const running = run(planAlone(await closedPortUrl()));
    await expect(running).rejects.toBeInstanceOf(ClientError);
    await expect(running).rejects.toThrow('nothing listens at that address');
  });
});

describe('an interrupted deployment', () => {
  it('is reconciled without differences in the middle of the updates', async () => {
    const environment = await serverOf();
    const interrupt = new AbortController();
    const running = run(planFor(environment.server.baseUrl), interrupt.signal);
    await environment.server.untilAsked('put-deployment-status', 4);
    interrupt.abort();
    const result = await running;
    expect(result.ended).toBe('interrupted');
    expect(result.funnel.updating).toBeGreaterThan(0);
    expect(result.reconciliation).toMatchObject({ checked: true, ok: true });
  });

  it('does not wait for a server that has stopped answering', async () => {
    const environment = await serverOf(() => ({ 'put-deployment-status': () => 'no-response' }));
    const interrupt = new AbortController();
    const plan = planFor(environment.server.baseUrl, { requestTimeLimitMs: 60_000 });
    const running = run(plan, interrupt.signal);
    await environment.server.untilAsked('put-deployment-status', 2);
    const fromMs = clock.monotonicMs();
    interrupt.abort();
    expect((await running).reconciliation).toMatchObject({ checked: true, ok: true });
    expect(clock.monotonicMs() - fromMs).toBeLessThan(10_000);
  });
});

describe('an interrupted run', () => {
  it('does not wait for a server that does not answer the login', async () => {
    const environment = await serverOf(() => ({ login: () => 'no-response' }));
    const interrupt = new AbortController();
    const plan = planFor(environment.server.baseUrl, { requestTimeLimitMs: 60_000 });
    const running = run(plan, interrupt.signal);
    await environment.server.untilAsked('login');
    interrupt.abort();
    const result = await running;
    expect(result.ended).toBe('interrupted');
    expect(fleetReport(result)).toContain('Reconciliation: nothing to compare');
  });

  it('does not wait for a server whose records cannot be read', async () => {
    const environment = await serverOf(() => ({ 'list-deployment-devices': () => 'no-response' }));
    const interrupt = new AbortController();
    const plan = planFor(environment.server.baseUrl, { requestTimeLimitMs: 60_000 });
    const running = run(plan, interrupt.signal);
    await environment.server.untilAsked('put-deployment-status', 2);
    interrupt.abort();
    const { reconciliation } = await running;
    expect(reconciliation).toMatchObject({ checked: false, ok: false });
    expect(reconciliation.reason).toContain('the run ended before the server responded');
  });
});

describe('a run that cannot succeed', () => {
  it('is refused when a sample is to be checked without a judge', async () => {
    const environment = await serverOf();
    const running = run(planFor(environment.server.baseUrl, { checkShare: 0.5 }));
    await expect(running).rejects.toThrow('checkShare needs a judge');
    expect(environment.server.requests).toEqual([]);
  });

  it('ends at once when the login of the user is refused', async () => {
    const environment = await serverOf(() => ({ login: () => ({ status: 401 }) }));
    const running = run(planFor(environment.server.baseUrl));
    await expect(running).rejects.toMatchObject({ operation: 'login', status: 401 });
    expect(environment.server.requestsFor('post-auth-request')).toEqual([]);
  });

  it('ends when its deployment is refused, with the text of the server', async () => {
    const body = { error: 'no artifact of that name' };
    const environment = await serverOf(() => ({
      'create-deployment': () => ({ status: 422, body }),
    }));
    const running = run(planFor(environment.server.baseUrl));
    await expect(running).rejects.toThrow('422: no artifact of that name');
    expect(environment.server.requestsFor('create-deployment')).toHaveLength(1);
  });

  it('does not create a second deployment when the first request got no response', async () => {
    const environment = await serverOf(() => ({ 'create-deployment': () => 'cut' }));
    const running = run(planFor(environment.server.baseUrl));
    await expect(running).rejects.toMatchObject({ operation: 'create-deployment' });
    expect(environment.server.requestsFor('create-deployment')).toHaveLength(1);
  });

  it('reports its progress at the start, during the run and at the end', async () => {
    const environment = await serverOf();
    const seen: FleetProgress[] = [];
    const { signal } = new AbortController();
    const onProgress = (progress: FleetProgress) => seen.push(progress);
    await simulateFleet(planFor(environment.server.baseUrl), { clock, signal, onProgress });
    expect(seen[0]).toMatchObject({ exchanges: 0, funnel: { devices: 8, noContact: 8 } });
    expect(seen.at(-1)?.funnel).toMatchObject({ success: 2, updating: 0 });
    expect(seen.at(-1)?.exchanges).toBeGreaterThan(50);
  });
});
