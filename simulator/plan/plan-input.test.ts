import { describe, expect, it } from 'vitest';
import { knownBehaviours } from '../behaviours/catalogue.ts';
import { planOf } from './plan.ts';
import {
  PlanInputError,
  planSchema,
  planWordNames,
  readPlanInput,
  readPlanPart,
} from './plan-input.ts';

const plan = `
devices: 500
poll: 1m
pollJitter: 0.1
behaviour: { steady: 9, failing-install: 1 }
backOff: { kind: exponential, min: 1s, obeysRetryAfter: false }
cohort:
  - { name: calm, weight: 3 }
  - name: lockstep
    pollSpread: lockstep
    network: { latency: 300ms, loss: 0.02 }
stage:
  - { ramp: 30s, devices: 100 }
  - hold: 2m
  - { burst: 10s, devices: 500 }
  - drain: 30
arrivals: { alerts: 20/s, first-contacts: 0.5 }
incident:
  - { name: power-cut, at: 45s, within: 10s, jitter: false, cohort: lockstep }
checkShare: 2%
`;

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof PlanInputError) return error.problems;
    throw error;
  }
  return [];
}

describe('a plan file', () => {
  it('is read into a plan that can run', () => {
    const made = planOf({ ...readPlanInput(plan), seed: 'x' }, knownBehaviours);
    expect(made).toMatchObject({
      pollJitterShare: 0.1,
      behaviours: [
        { name: 'steady', weight: 9 },
        { name: 'failing-install', weight: 1 },
      ],
      backOff: { kind: 'exponential', minMs: 1000, obeysRetryAfter: false },
      cohorts: [
        { name: 'calm', weight: 3 },
        {
          name: 'lockstep',
          weight: 1,
          pollSpread: 'lockstep',
          network: { latencyMs: 300, lossShare: 0.02 },
        },
      ],
      stages: [
        { kind: 'ramp', durationMs: 30_000, devices: 100 },
        { kind: 'hold', durationMs: 120_000 },
        { kind: 'burst', durationMs: 10_000, devices: 500 },
        { kind: 'drain', durationMs: 30_000 },
      ],
      arrivals: [
        { event: 'alerts', perSecond: 20 },
        { event: 'first-contacts', perSecond: 0.5 },
      ],
      incidents: [{ name: 'power-cut', atMs: 45_000, withinMs: 10_000, jitter: false }],
      checkShare: 0.02,
    });
  });

  it('can be written as JSON', () => {
    expect(readPlanInput('{"devices": 3, "ramp": "5s"}')).toEqual({ devices: 3, ramp: '5s' });
  });

  it.each([
    ['devices: [', '1:11 '],
    ['pol: 5s', '1:1 pol: is unknown; the nearest fields are poll, '],
    ['seed: a\npoll: soon', '2:7 poll: must be a duration such as 500ms, 30s or 5m'],
    ['ramp: -1s', '1:7 ramp: must be a duration'],
    ['pollSpread: odd', '1:13 pollSpread: must be one of even, random, lockstep'],
    ['cohort:\n  - { name: a }\n  - { weight: 2 }', '3:5 cohort.1.name: is required'],
    [
      'stage:\n  - { devices: 3 }',
      '2:5 stage.0: must have exactly one of ramp, hold, burst and drain',
    ],
    [
      'stage:\n  - { ramp: 1s, hold: 1s }',
      '2:5 stage.0: must have exactly one of ramp, hold, burst',
    ],
    [
      'incident: [{ name: fire }]',
      '1:20 incident.0.name: must be one of power-cut, reconnect-storm',
    ],
    ['arrivals: { alerts: often }', '1:21 arrivals.alerts: must be a rate per second'],
    ['acceptWith: admin', '1:1 acceptWith: is unknown; the nearest fields are '],
    ['checkShare: 120%', '1:13 checkShare: must be a share of the devices above 0'],
    ['checkShare: 0', '1:13 checkShare: must be a share of the devices above 0'],
    ['network: { latency: 300 }', '1:21 network.latency: must be a duration with its unit'],
    ['network: { jitter: "5" }', '1:20 network.jitter: must be a duration with its unit'],
    ['keys: { dsa: 1 }', '1:9 keys.dsa: is unknown; the fields are rsa, ecdsa, ed25519'],
  ])('is refused with line and column for %j', (text, problem) => {
    expect(problemsOf(() => readPlanInput(text))[0]).toContain(problem);
  });

  it('has a published schema that contains every member', () => {
    const schema = planSchema() as { properties: object; $id: string };
    expect(schema.$id).toBe('urn:fleetbed:plan:1');
    expect(Object.keys(schema.properties).sort()).toEqual([...planWordNames].sort());
    expect(JSON.stringify(schema.properties)).toContain('full-jitter');
  });
});

describe('a plan member on the command line', () => {
  it.each([
    ['stage', 'ramp: 30s, devices: 100', { ramp: '30s', devices: 100 }],
    ['incident', 'power-cut, at: 10s', { name: 'power-cut', at: '10s' }],
    ['cohort', 'lockstep', { name: 'lockstep' }],
    ['backOff', 'kind: fixed, min: 1s', { kind: 'fixed', min: '1s' }],
    ['network', 'latency: 300ms', { latency: '300ms' }],
  ] as const)('is accepted for %s with the text %j', (name, text, input) => {
    expect(readPlanPart(name, text)).toEqual(input);
  });

  it.each([
    ['stage', 'ramp: 1x', 'ramp: must be a duration'],
    ['incident', 'fire, at: 10s', 'name: must be one of'],
    ['cohort', 'weight: 2', 'name: is required'],
    ['stage', 'ramp: 1s', 'must have devices if, and only if, it is a ramp or burst'],
    ['incident', 'update-night, lasting: 1s', 'must not have lasting unless it is a power-cut'],
    ['network', 'lost: 2', 'lost: is unknown; the nearest fields are loss, '],
    ['network', 'latency: 300', 'latency: must be a duration with its unit, such as 300ms'],
    ['backOff', 'kind: [', ''],
  ] as const)('is refused for %s with the text %j', (name, text, problem) => {
    expect(problemsOf(() => readPlanPart(name, text))[0]).toContain(problem);
  });
});
