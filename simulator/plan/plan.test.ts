import { describe, expect, it } from 'vitest';
import { behaviours, knownBehaviours } from '../behaviours/catalogue.ts';
import { checkPlan, type FleetPlan, PlanError } from './plan.ts';

const plan: FleetPlan = {
  baseUrl: 'http://127.0.0.1:8080',
  devices: 30,
  keys: { rsa: 1, ecdsa: 1, ed25519: 1 },
  seed: 'x',
  pollIntervalMs: 1000,
  inventoryIntervalMs: 60_000,
  rampMs: 0,
  connect: false,
  behaviours: [{ name: 'steady', weight: 1 }],
  headerPrefix: 'X-SVC',
  requestTimeLimitMs: 5000,
};

function faultsOf(change: object): readonly string[] {
  try {
    checkPlan({ ...plan, ...change }, knownBehaviours);
  } catch (error) {
    if (error instanceof PlanError) return error.faults;
    throw error;
  }
  return [];
}

describe('a plan', () => {
  it('is taken as it is when nothing is wrong', () => {
    expect(checkPlan(plan, knownBehaviours)).toEqual(plan);
    const full = {
      until: 'settled',
      acceptWith: { email: 'admin@example.com', password: 'p' },
      deploy: 'release-1',
      tls: { caPem: 'pem' },
      idPrefix: 'LAB-1',
    };
    expect(faultsOf(full)).toEqual([]);
  });

  it.each([
    [{ devices: 0 }, 'devices must be a whole number from 1 to 1000000, not 0'],
    [{ devices: 2.5 }, 'devices must be a whole number from 1 to 1000000, not 2.5'],
    [{ devices: Number.NaN }, 'devices must be a whole number from 1 to 1000000, not NaN'],
    [
      { pollIntervalMs: 1 },
      'poll must be a length of time from 10ms to 366d, in whole milliseconds, not 1ms',
    ],
    [{ checkShare: 0 }, 'checkShare must be a share above 0, at most 1, not 0'],
    [{ checkShare: 1.5 }, 'checkShare must be a share above 0, at most 1, not 1.5'],
    [
      { rampMs: -1 },
      'ramp must be a length of time from 0ms to 366d, in whole milliseconds, not -1ms',
    ],
    [
      { durationMs: 0 },
      'duration must be a length of time from 1ms to 366d, in whole milliseconds, not 0ms',
    ],
    [
      { baseUrl: 'localhost:8080' },
      'url must be an http or https URL such as http://127.0.0.1:8080, not "localhost:8080"',
    ],
    [
      { baseUrl: 'ftp://host' },
      'url must be an http or https URL such as http://127.0.0.1:8080, not "ftp://host"',
    ],
    [
      { baseUrl: 'http://host/?a=1' },
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
    [{ keys: { rsa: 1, ecdsa: 1 } }, 'keys.ed25519 is required'],
    [{ keys: { rsa: 1, ecdsa: 1, ed25519: 1, dsa: 1 } }, 'keys.dsa is unknown'],
    [
      { behaviours: [{ name: 'stedy', weight: 1 }] },
      `behaviour must be one of ${[...behaviours.keys()].join(', ')}, not "stedy"`,
    ],
    [{ behaviours: [] }, 'behaviour must give at least one behaviour a weight above 0'],
    [{ seed: '' }, 'seed must not be empty, not ""'],
    [{ seed: undefined }, 'seed is required'],
    [
      { headerPrefix: 'X-SVC-' },
      'headerPrefix must be letters, digits and single dashes, such as X-SVC, not "X-SVC-"',
    ],
    [{ until: 'done' }, 'until must be "settled" or absent, not "done"'],
    [{ connect: 'yes' }, 'connect must be true or false, not "yes"'],
    [{ idPrefix: 'a b' }, 'idPrefix must be 1 to 32 letters, digits or dashes, not "a b"'],
    [{ deploy: 'r-1' }, 'deploy needs --accept with --password or --token'],
    [{ speed: 2 }, 'speed is unknown'],
    [{ rsaPool: { size: 0 } }, 'rsaPool must be a whole number from 1 to 4096, not 0'],
    [{ tls: { keyPem: 'pem' } }, 'tls needs --key, and --key needs --cert'],
    [
      { stages: [{ kind: 'hold', durationMs: 0 }] },
      'stage.0.hold must be a length of time from 1ms to 366d, in whole milliseconds, not 0ms',
    ],
    [
      { arrivals: [{ event: 'logs', perSecond: 1e9 }] },
      'arrivals.logs must be a number above 0, at most 100000, not 1000000000',
    ],
    [
      {
        behaviours: [
          { name: 'slow', weight: 1 },
          { name: 'steady', weight: -1 },
        ],
      },
      'behaviour.steady must be a weight: a number of 0 or more, not -1',
    ],
  ])('with %o is refused in one sentence that names the field', (change, sentence) => {
    expect(faultsOf(change)).toEqual([sentence]);
  });

  it('is refused when it deploys to more devices than one request can name', () => {
    const acceptWith = { email: 'a@b', password: 'p' };
    const [fault] = faultsOf({ devices: 25_001, deploy: 'r-1', acceptWith });
    expect(fault).toContain('devices must be at most 25000 with --deploy');
  });

  it('is refused with every fault at once', () => {
    expect(faultsOf({ devices: 0, seed: '', connect: 1 })).toHaveLength(3);
  });

  it('is refused when it names a behaviour twice', () => {
    const twice = [
      { name: 'steady', weight: 1 },
      { name: 'steady', weight: 2 },
    ];
    expect(faultsOf({ behaviours: twice })[0]).toContain('must name each behaviour once');
  });

  it('never shows a secret in the sentence that refuses it', () => {
    const faults = faultsOf({ acceptWith: { email: 7, password: '' }, tenantToken: '' });
    expect(faults).toHaveLength(2);
    expect(faults.join()).not.toContain('7');
  });
});
