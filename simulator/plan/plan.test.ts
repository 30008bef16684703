import { describe, expect, it } from 'vitest';
import { behaviours, knownBehaviours } from '../behaviours/catalogue.ts';
import { PlanError, planOf } from './plan.ts';

const url = 'http://127.0.0.1:8080';

function problemsOf(input: object): readonly string[] {
  try {
    planOf({ seed: 'x', ...input }, knownBehaviours);
  } catch (error) {
    if (error instanceof PlanError) return error.problems;
    throw error;
  }
  return [];
}

describe('a plan', () => {
  it('has default values for options that are not given', () => {
    expect(planOf({ seed: 'x' }, knownBehaviours)).toEqual({
      baseUrl: url,
      devices: 10,
      seed: 'x',
      headerPrefix: 'X-SVC',
      keys: { rsa: 1, ecdsa: 1, ed25519: 1 },
      rsaPool: {},
      deviceType: 'fleetbed-board',
      behaviours: [{ name: 'steady', weight: 1 }],
      pollIntervalMs: 5000,
      pollJitterShare: 0,
      pollSpread: 'even',
      inventoryIntervalMs: 60_000,
      rampMs: 1000,
      drainMs: 30_000,
      requestTimeLimitMs: 30_000,
      connect: false,
      download: 'full',
    });
  });

  it('is accepted when nothing is wrong', () => {
    const full = {
      until: 'settled',
      acceptWith: { email: 'admin@example.com', password: 'p' },
      deploy: 'release-1',
      tls: { caPem: 'pem' },
      idPrefix: 'LAB-1',
    };
    expect(problemsOf(full)).toEqual([]);
  });

  it('accepts a threshold for any cohort, stage or incident that it has, and no other', () => {
    const cohort = [{ name: 'Slow' }, { name: 'fast' }];
    const stage = [{ ramp: '1s', devices: 2 }, { hold: '1s' }];
    const incident = [{ name: 'power-cut' }, { name: 'power-cut', at: '5s' }];
    const plan = (threshold: string) => ({ cohort, stage, incident, threshold: [threshold] });
    for (const scope of ['cohort:Slow,stage:2 hold', 'stage:power-cut (2)', 'stage:run']) {
      expect(problemsOf(plan(`p99(poll){${scope}} < 1s`))).toEqual([]);
    }
    expect(problemsOf(plan('p99(poll){cohort:slow,stage:hold} < 1s'))).toEqual([
      'threshold must name a cohort of the run (Slow, fast), not "slow"',
      'threshold must name a stage of the run (run, 1 ramp, 2 hold, power-cut, power-cut (2)), not "hold"',
    ]);
  });

  it.each([
    [{ devices: 0 }, 'devices must be a whole number from 1 to 1000000, not 0'],
    [{ devices: 2.5 }, 'devices must be a whole number from 1 to 1000000, not 2.5'],
    [{ devices: Number.NaN }, 'devices must be a whole number from 1 to 1000000, not NaN'],
    [{ poll: '1ms' }, 'poll must be a duration from 10ms to 366d, in whole milliseconds, not 1ms'],
    [
      { checkShare: 0 },
      'checkShare must be a share of the devices above 0, such as 1% or 0.01, not 0',
    ],
    [
      { checkShare: 1.5 },
      'checkShare must be a share of the devices above 0, such as 1% or 0.01, not 1.5',
    ],
    [
      { ramp: '-1ms' },
      'ramp must be a duration such as 500ms, 30s or 5m (a number without a unit is in seconds), not "-1ms"',
    ],
    [
      { duration: 0 },
      'duration must be a duration from 1ms to 366d, in whole milliseconds, not 0ms',
    ],
    [
      { url: 'localhost:8080' },
      'url must be an http or https URL such as http://127.0.0.1:8080, not "localhost:8080"',
    ],
    [
      { url: 'ftp://host' },
      'url must be an http or https URL such as http://127.0.0.1:8080, not "ftp://host"',
    ],
    [
      { url: 'http://host/?a=1' },
      'url must not contain a user, query or fragment, not "http://host/?a=1"',
    ],
    [
      { keys: { rsa: 0, ecdsa: 0, ed25519: 0 } },
      'keys must give at least one of rsa, ecdsa, ed25519 a weight above 0',
    ],
    [
      { keys: { rsa: -1, ecdsa: 1, ed25519: 1 } },
      'keys.rsa must be a weight: a number of 0 or more, not -1',
    ],
    [
      { keys: { rsa: 1, ecdsa: 1, ed25519: 1, dsa: 1 } },
      'keys.dsa is unknown; the fields are rsa, ecdsa, ed25519',
    ],
    [
      { behaviour: { stedy: 1 } },
      `behaviour must be one of ${[...behaviours.keys()].join(', ')}, not "stedy"`,
    ],
    [{ behaviour: {} }, 'behaviour must give at least one behaviour a weight above 0'],
    [{ seed: '' }, 'seed must not be empty, not ""'],
    [{ seed: undefined }, 'seed is required'],
    [
      { headerPrefix: 'X-SVC-' },
      'headerPrefix must be letters, digits and single inner dashes, beginning with a letter, such as X-SVC, not "X-SVC-"',
    ],
    [{ until: 'done' }, 'until must be "settled" or absent, not "done"'],
    [{ connect: 'yes' }, 'connect must be true or false, not "yes"'],
    [{ idPrefix: 'a b' }, 'idPrefix must be 1 to 32 letters, digits or dashes, not "a b"'],
    [{ deploy: 'r-1' }, 'deploy needs --accept with --password or --token'],
    [{ speed: 2 }, 'speed is unknown; the nearest fields are seed, shard, keys'],
    [{ rsaPool: 0 }, 'rsaPool must be a whole number from 1 to 4096, not 0'],
    [{ tls: { keyPem: 'pem' } }, 'tls needs --key, and --key needs --cert'],
    [
      { stage: [{ hold: 0 }] },
      'stage.0.hold must be a duration from 1ms to 366d, in whole milliseconds, not 0ms',
    ],
    [
      { arrivals: { logs: 1e9 } },
      'arrivals.logs must be a number above 0, at most 100000, not 1000000000',
    ],
    [
      { behaviour: { slow: 1, steady: -1 } },
      'behaviour.steady must be a weight: a number of 0 or more, not -1',
    ],
  ])('is refused with one sentence that names the field: %o', (change, sentence) => {
    expect(problemsOf(change)).toEqual([sentence]);
  });

  it('is refused when it deploys to more devices than one request can name', () => {
    const acceptWith = { email: 'a@b', password: 'p' };
    const [problem] = problemsOf({ devices: 25_001, deploy: 'r-1', acceptWith });
    expect(problem).toContain('devices must be at most 25000 with --deploy');
  });

  it('is refused with all of its errors at once', () => {
    expect(problemsOf({ devices: 0, seed: '', connect: 1 })).toHaveLength(3);
  });

  it('is refused with a sentence that never contains a secret', () => {
    const problems = problemsOf({ acceptWith: { email: 7, password: '' }, tenantToken: '' });
    expect(problems).toHaveLength(2);
    expect(problems.join()).not.toContain('7');
  });
});
