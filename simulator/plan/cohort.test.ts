import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { knownBehaviours } from '../behaviours/catalogue.ts';
import type { SimulatedDevice } from '../device/device.ts';
import { buildDevices } from '../engine/build-devices.ts';
import { Identities } from '../identity/identities.ts';
import { planWith } from '../testing/plan-with.ts';
import { cohortsOf } from './cohort.ts';
import { type FleetPlan, PlanError, planOf } from './plan.ts';

const plan = planWith({
  baseUrl: 'http://127.0.0.1:8080',
  devices: 24,
  keys: { rsa: 1, ecdsa: 1, ed25519: 1 },
  behaviours: [
    { name: 'steady', weight: 1 },
    { name: 'failing-install', weight: 1 },
  ],
});
const exampleCohorts: FleetPlan['cohorts'] = [
  { name: 'calm', weight: 2 },
  {
    name: 'lockstep',
    weight: 1,
    pollSpread: 'lockstep',
    pollIntervalMs: 500,
    keys: { rsa: 0, ecdsa: 0, ed25519: 1 },
    behaviours: [{ name: 'steady', weight: 1 }],
    backOff: { kind: 'fixed', minMs: 100 },
  },
];

const random = seededRandom('x');
const identities = await Identities.open(plan, { random });

function devicesFor(change: Partial<FleetPlan> = {}): readonly SimulatedDevice[] {
  return buildDevices({ ...plan, ...change }, identities);
}

function story({ index, identity, keyType, behaviour, cohort }: SimulatedDevice): string {
  return [index, identity.serial, keyType, behaviour.name, cohort.name].join(' ');
}

function problemsOf(input: object): readonly string[] {
  try {
    planOf({ seed: 'x', ...input }, knownBehaviours);
  } catch (error) {
    if (error instanceof PlanError) return error.problems;
    throw error;
  }
  return [];
}

describe('a plan without cohorts', () => {
  it('has a single cohort that is called all and follows the plan', () => {
    expect(cohortsOf(plan)).toEqual([
      {
        name: 'all',
        weight: 1,
        keys: plan.keys,
        behaviours: plan.behaviours,
        policy: {
          pollIntervalMs: 1000,
          pollJitterShare: 0,
          pollSpread: 'even',
          inventoryIntervalMs: 60_000,
          connect: false,
          download: 'full',
          backOff: { kind: 'equal-jitter', minMs: 500, maxMs: 60_000, obeysRetryAfter: true },
        },
      },
    ]);
  });
});

describe('the cohorts of a plan', () => {
  it('get their shares of the fleet in turn, not in blocks', () => {
    const names = devicesFor({ cohorts: exampleCohorts }).map(({ cohort }) => cohort.name);
    expect(names.filter((name) => name === 'lockstep')).toHaveLength(8);
    expect(names.join(' ')).not.toContain('lockstep lockstep');
  });

  it('use their own keys and behaviours, or those of the fleet where they name none', () => {
    for (const { cohort, keyType, behaviour } of devicesFor({ cohorts: exampleCohorts })) {
      if (cohort.name !== 'lockstep') continue;
      expect([keyType, behaviour.name]).toEqual(['ed25519', 'steady']);
    }
    const calm = devicesFor({ cohorts: exampleCohorts }).filter(
      ({ cohort }) => cohort.name === 'calm',
    );
    expect(new Set(calm.map(({ keyType }) => keyType)).size).toBe(3);
    expect(new Set(calm.map(({ behaviour }) => behaviour.name)).size).toBe(2);
  });

  it('change parts of the back-off and the network, and keep the rest', () => {
    const backOff = { maxMs: 9000, obeysRetryAfter: false };
    const network = { latencyMs: 300 };
    const [calm, flaky] = cohortsOf({
      ...plan,
      backOff,
      network,
      cohorts: [
        { name: 'calm', weight: 1 },
        { name: 'flaky', weight: 1, backOff: { kind: 'fixed' }, network: { lossShare: 0.1 } },
      ],
    });
    expect(calm?.policy.backOff.kind).toBe('equal-jitter');
    expect(flaky?.policy).toMatchObject({
      backOff: { kind: 'fixed', minMs: 500, maxMs: 9000, obeysRetryAfter: false },
      network: { latencyMs: 300, jitterMs: 0, lossShare: 0.1, bytesPerSecond: 0 },
    });
  });

  it.each([
    [[], 'cohort must give at least one cohort a weight above 0'],
    [[{ name: 'a', weight: 0 }], 'cohort must give at least one cohort a weight above 0'],
    [
      [
        { name: 'a', weight: 1 },
        { name: 'a', weight: 1 },
      ],
      'cohort must name each cohort once',
    ],
    [
      [
        { name: 'a', weight: -1 },
        { name: 'b', weight: 1 },
      ],
      'cohort.0.weight must be a weight: a number of 0 or more, not -1',
    ],
    [[{ name: '', weight: 1 }], 'cohort.0.name must not be empty'],
    [[{ weight: 1 }], 'cohort.0.name is required'],
    [[{ name: 'a', weight: 1, speed: 3 }], 'cohort.0.speed is unknown'],
    [
      [{ name: 'a', weight: 1, pollSpread: 'odd' }],
      'cohort.0.pollSpread must be one of even, random, lockstep, not "odd"',
    ],
    [
      [{ name: 'a', weight: 1, backOff: { kind: 'never' } }],
      'cohort.0.backOff.kind must be one of fixed, exponential, equal-jitter, full-jitter',
    ],
    [
      [{ name: 'a', weight: 1, network: { loss: 2 } }],
      'cohort.0.network.loss must be a share: a number from 0 to 1, not 2',
    ],
  ])('are refused with one sentence: %j', (cohorts, sentence) => {
    const [problem, ...otherProblems] = problemsOf({ cohort: cohorts });
    expect(problem).toContain(sentence);
    expect(otherProblems).toEqual([]);
  });
});

describe('a shard of a plan', () => {
  const whole = devicesFor({ cohorts: exampleCohorts }).map(story);

  it.each([1, 2, 5, 24])(
    'runs as one of %i its own devices, together the whole fleet',
    (shardCount) => {
      const shards = Array.from({ length: shardCount }, (_, index) =>
        devicesFor({ cohorts: exampleCohorts, shard: { index, of: shardCount } }).map(story),
      );
      expect(shards.flat()).toEqual(whole);
      const sizes = shards.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    },
  );

  it.each([
    [{ index: 2, of: 2 }, 'shard must have an index below its count'],
    [{ index: -1, of: 2 }, 'shard.index must be a whole number from 0'],
    [{ index: 0, of: 0 }, 'shard.of must be a whole number from 1'],
    [{ index: 0, of: 25 }, 'shard must not have more shards than devices'],
  ])('is refused with a reason: %o', (shard, sentence) => {
    expect(problemsOf({ shard })[0]).toContain(sentence);
  });
});
