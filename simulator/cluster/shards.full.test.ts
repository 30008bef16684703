import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { type FleetPlan, simulateFleet } from '../engine/simulate-fleet.ts';
import { mergeResults } from '../result/merge.ts';
import type { FleetResult } from '../result/result.ts';
import { FakeServer, release } from '../testing/fake-server.ts';
import { planWith } from '../testing/plan-with.ts';
import { closedPortUrl } from '../testing/stub-server.ts';
import { type ClusterOutcome, Coordinator, type CoordinatorOptions } from './coordinator.ts';
import { deployForAll } from './deploy-for-all.ts';
import type { CoordinatorMessage, WorkerMessage } from './messages.ts';
import { runShard, type WorkerChannel } from './run-shard.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const clock = systemClock;
const signal = new AbortController().signal;

function planFor(baseUrl: string, change: Partial<FleetPlan> = {}): FleetPlan {
  return planWith({
    baseUrl,
    devices: 12,
    keys: { rsa: 0, ecdsa: 1, ed25519: 1 },
    seed: 'shards',
    pollIntervalMs: 40,
    rampMs: 20,
    behaviours: ['steady', 'failing-install', 'already-installed'].map((name) => {
      return { name, weight: 1 };
    }),
    deviceType: 'board',
    acceptWith: { email: 'admin@example.com', password: 'secret-word' },
    deploy: release,
    until: 'settled',
    ...change,
  });
}

const onlySteady = [{ name: 'steady', weight: 1 }];

function deploying(plan: FleetPlan): CoordinatorOptions['deploy'] {
  return (deviceIds) => deployForAll(plan, deviceIds, { clock, signal });
}

async function serverOf(): Promise<FakeServer> {
  const small = await FakeServer.start();
  closers.push(() => small.server.close());
  return small;
}

/** A run whose workers are in this process. */
class RunInShards {
  readonly coordinator: Coordinator;
  readonly #plan: FleetPlan;
  readonly #shardCount: number;
  readonly #sent: CoordinatorMessage[] = [];
  readonly #listeners: ((message: CoordinatorMessage) => void)[] = [];
  /** Messages waiting for the coordinator, as every worker sees it. */
  unsentCount = 0;
  sendsEvents = false;
  /** Called before the coordinator receives a message. */
  onWorkerMessage: (shard: number, message: WorkerMessage) => void = () => undefined;

  constructor(
    plan: FleetPlan,
    shardCount: number,
    deploy: CoordinatorOptions['deploy'] = deploying(plan),
  ) {
    this.#plan = plan;
    this.#shardCount = shardCount;
    this.coordinator = new Coordinator({
      shards: shardCount,
      plan,
      clock,
      startLeadMs: 0,
      send: (message) => {
        this.#sent.push(message);
        for (const listener of this.#listeners) listener(message);
      },
      deploy,
      onNoResponse: () => undefined,
    });
    closers.push(() => this.coordinator.close());
  }

  begin(shard: number, worker = 'first', isTakeover = false): void {
    this.coordinator.recordStart(shard, worker);
    const channel: WorkerChannel = {
      unsentCount: this.unsentCount,
      send: (message) => {
        this.onWorkerMessage(shard, message);
        this.coordinator.onMessage(shard, worker, message);
      },
      onMessage: (listener) => {
        this.#listeners.push(listener);
        for (const message of this.#sent) listener(message);
      },
    };
    const plan = { ...this.#plan, shard: { index: shard, of: this.#shardCount } };
    const describeError = (error: unknown) => ({ sentence: String(error), exitCode: 3 });
    const assignment = { plan, isTakeover, sendsEvents: this.sendsEvents };
    const run = runShard(assignment, { channel, clock, describeError });
    closers.push(() => run);
  }

  outcome(): Promise<ClusterOutcome> {
    for (let shard = 0; shard < this.#shardCount; shard++) this.begin(shard);
    return this.coordinator.outcome;
  }
}

/** Returns what must not depend on the number of workers: everything but server-assigned IDs. */
function rows(results: readonly FleetResult[]) {
  return results.flatMap(({ devices }) =>
    devices.map(({ index, serial, keyType, behaviour, outcome, reported, artifactName }) => {
      return { index, serial, keyType, behaviour, outcome, reported, artifactName };
    }),
  );
}

/**
 * Runs a fleet in two shards and counts the events that reach the coordinator and the lost ones.
 */
async function eventsWith({ unsentCount }: { unsentCount: number }) {
  const small = await serverOf();
  const run = new RunInShards(planFor(small.server.baseUrl), 2);
  Object.assign(run, { unsentCount, sendsEvents: true });
  let [received, lost] = [0, 0];
  run.onWorkerMessage = (_shard, message) => {
    if (message.type !== 'events') return;
    received += message.events.length;
    lost += message.lost ?? 0;
  };
  await run.outcome();
  return { received, lost };
}

describe('a fleet in shards', () => {
  it('is the same fleet with one, two and three workers, device by device', async () => {
    const whole = await serverOf();
    const alone = await simulateFleet(planFor(whole.server.baseUrl), { clock, signal });
    expect(new Set(alone.devices.map(({ outcome }) => outcome)).size).toBe(3);
    for (const shards of [2, 3]) {
      const small = await serverOf();
      const { results } = await new RunInShards(planFor(small.server.baseUrl), shards).outcome();
      expect(results).toHaveLength(shards);
      expect(rows(results)).toEqual(rows([alone]));
      const keysOf = ({ devices }: FakeServer) =>
        [...devices.values()].map(({ pubkey }) => pubkey).sort();
      expect(keysOf(small)).toEqual(keysOf(whole));
    }
  });

  it('has one deployment for the devices of all shards', async () => {
    const small = await serverOf();
    const { results } = await new RunInShards(planFor(small.server.baseUrl), 3).outcome();
    expect(small.server.requestsFor('create-deployment')).toHaveLength(1);
    expect(small.deployedTo?.size).toBe(12);
    expect(new Set(results.map(({ deploymentId }) => deploymentId)).size).toBe(1);
    expect(results.map(({ reconciliation }) => reconciliation.ok)).toEqual([true, true, true]);
  });

  it('adopts the finished updates of a lost worker and agrees with the server', async () => {
    const small = await serverOf();
    const run = new RunInShards(planFor(small.server.baseUrl), 2);
    run.onWorkerMessage = (shard, { type }) => {
      // The first worker of this shard is lost after its updates are done, but before it reports.
      if (shard !== 1 || type !== 'result') return;
      if (run.coordinator.recordLoss(1, 'first', 'it was lost')) run.begin(1, 'second', true);
    };
    const { results, spread } = await run.outcome();
    expect(spread.takeovers).toMatchObject([
      { shard: 1, from: 'first', to: 'second', reason: 'it was lost', adopted: 6 },
    ]);
    expect(results.map(({ ended, reconciliation }) => [ended, reconciliation.ok])).toEqual([
      ['settled', true],
      ['settled', true],
    ]);
    expect(
      results.flatMap(({ devices }) => devices).every(({ outcome }) => outcome !== 'idle'),
    ).toBe(true);
  });

  it('ends with a result when it is stopped before it has begun', async () => {
    const small = await serverOf();
    const run = new RunInShards(planFor(small.server.baseUrl), 2);
    run.coordinator.stop();
    const { results } = await run.outcome();
    expect(results.map(({ ended }) => ended)).toEqual(['interrupted', 'interrupted']);
  });

  it('ends all shards when the whole fleet can no longer meet a threshold', async () => {
    const small = await serverOf();
    const demand = { thresholds: ['max(poll) < 0.001ms'], abortOnThreshold: true };
    const plan = planFor(small.server.baseUrl, { ...demand, behaviours: onlySteady });
    const { deploy: _, until: __, ...endless } = plan;
    const { results } = await new RunInShards(endless, 2).outcome();
    expect(results.map(({ ended }) => ended)).toEqual(['threshold', 'threshold']);
    expect(mergeResults(results)).toMatchObject({
      ended: 'threshold',
      thresholds: [{ verdict: 'missed' }],
    });
  });

  it('ends although its deployment is never created', async () => {
    const small = await serverOf();
    const plan = planFor(small.server.baseUrl, { durationMs: 400 });
    const run = new RunInShards(plan, 2, () => new Promise<never>(() => undefined));
    const { results } = await run.outcome();
    expect(results.map(({ ended }) => ended)).toEqual(['duration', 'duration']);
  });

  it('sends every event of its devices to the coordinator', async () => {
    const { received, lost } = await eventsWith({ unsentCount: 0 });
    expect(lost).toBe(0);
    expect(received).toBeGreaterThan(100);
  });

  it('counts the events that a coordinator too slow for them does not get', async () => {
    const { received, lost } = await eventsWith({ unsentCount: 200 });
    expect(received).toBe(0);
    expect(lost).toBeGreaterThan(100);
  });

  it('fails with the reason why a shard cannot run', async () => {
    const run = new RunInShards(planFor(await closedPortUrl()), 1);
    await expect(run.outcome()).rejects.toThrow(/ECONNREFUSED/);
  });
});
