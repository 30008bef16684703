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
      'pollIntervalMs must be a whole number of milliseconds from 10 to 31622400000, not 1',
    ],
    [{ checkShare: 0 }, 'checkShare must be a share above 0, at most 1, not 0'],
    [{ checkShare: 1.5 }, 'checkShare must be a share above 0, at most 1, not 1.5'],
    [{ rampMs: -1 }, 'rampMs must be a whole number of milliseconds from 0 to 31622400000, not -1'],
    [
      { durationMs: 0 },
      'durationMs must be a whole number of milliseconds from 1 to 31622400000, not 0',
    ],
    [
      { baseUrl: 'localhost:8080' },
      'baseUrl must be an http or https URL such as http://127.0.0.1:8080, not "localhost:8080"',
    ],
    [
      { baseUrl: 'ftp://host' },
      'baseUrl must be an http or https URL such as http://127.0.0.1:8080, not "ftp://host"',
    ],
    [
      { baseUrl: 'http://host/?a=1' },
      'baseUrl must hold no user, query or fragment, not "http://host/?a=1"',
    ],
    [
      { keys: { rsa: 0, ecdsa: 0, ed25519: 0 } },
      'keys must give at least one of rsa, ecdsa, ed25519 a weight above zero',
    ],
    [
      { keys: { rsa: -1, ecdsa: 1, ed25519: 1 } },
      'keys.rsa must be a weight: a number of zero or more, not -1',
    ],
    [{ keys: { rsa: 1, ecdsa: 1 } }, 'keys.ed25519 is missing'],
    [{ keys: { rsa: 1, ecdsa: 1, ed25519: 1, dsa: 1 } }, 'keys.dsa is not known'],
    [
      { behaviours: [{ name: 'stedy', weight: 1 }] },
      `behaviours.0.name is no behaviour; there are ${[...behaviours.keys()].join(', ')}, not "stedy"`,
    ],
    [{ behaviours: [] }, 'behaviours must give at least one behaviour a weight above zero'],
    [{ seed: '' }, 'seed must not be empty, not ""'],
    [{ seed: undefined }, 'seed is missing'],
    [
      { headerPrefix: 'X-SVC-' },
      'headerPrefix must be letters, digits and single dashes, such as X-SVC, not "X-SVC-"',
    ],
    [{ until: 'done' }, 'until must be "settled" or absent, not "done"'],
    [{ connect: 'yes' }, 'connect must be true or false, not "yes"'],
    [{ idPrefix: 'a b' }, 'idPrefix must be 1 to 32 letters, digits or dashes, not "a b"'],
    [{ deploy: 'r-1' }, 'deploy needs a user: give --accept with --password or --token'],
    [{ speed: 2 }, 'speed is not known'],
  ])('with %o is refused in one sentence that names the field', (change, sentence) => {
    expect(faultsOf(change)).toEqual([sentence]);
  });

  it('is refused when it deploys to more devices than one request can name', () => {
    const acceptWith = { email: 'a@b', password: 'p' };
    const [fault] = faultsOf({ devices: 25_001, deploy: 'r-1', acceptWith });
    expect(fault).toContain('devices must be at most 25000 when there is something to deploy');
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
