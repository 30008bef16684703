import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuthSetStatus } from '../../fixtures/contract/vocabulary.ts';
import type { DeviceFilter } from './device-filter.ts';
import type { DeviceStore, StoredAuthSet } from './devices.ts';
import { openStore, type Store } from './store.ts';

let store: Store;
let devices: DeviceStore;

beforeEach(async () => {
  store = await openStore();
  devices = store.devices;
});

afterEach(() => store.close());

const everyDevice: DeviceFilter = { status: [], id: [] };
const wide = { page: 1, perPage: 500 };

function meet(name: string, status: AuthSetStatus = 'pending'): StoredAuthSet {
  devices.recordFirstContact(
    { id: `d-${name}`, identity: `{"mac":"${name}"}` },
    { id: `s-${name}`, publicKeyPem: `key ${name}`, status, nowMs: 100 },
  );
  return setOf(name, `key ${name}`);
}

function addKey(name: string, key: string, status: AuthSetStatus = 'pending'): StoredAuthSet {
  const set = { id: `s-${name}-${key}`, publicKeyPem: key, status, nowMs: 200 };
  devices.recordAuthSet(`d-${name}`, set);
  return setOf(name, key);
}

function setOf(name: string, key: string): StoredAuthSet {
  const set = devices.findAuthSet(`d-${name}`, key);
  if (!set) throw new Error(`no set of ${name} with ${key}`);
  return set;
}

function statusesOf(name: string): readonly AuthSetStatus[] {
  return devices.listAuthSets(`d-${name}`).map(({ status }) => status);
}

describe('the first contact of a device', () => {
  it('creates the device and its authentication set', () => {
    expect(meet('a')).toEqual({
      id: 's-a',
      deviceId: 'd-a',
      publicKeyPem: 'key a',
      status: 'pending',
      createdMs: 100,
      tokensValidFromSeconds: 0,
    });
    expect(devices.find('d-a')).toEqual({
      id: 'd-a',
      identity: '{"mac":"a"}',
      status: 'pending',
      createdMs: 100,
      updatedMs: 100,
    });
    expect(devices.findByIdentity('{"mac":"a"}')?.id).toBe('d-a');
  });

  it('cannot create an identity twice, and leaves nothing of the second attempt', () => {
    meet('a');
    const otherDevice = { id: 'd-other', identity: '{"mac":"a"}' };
    const set = { id: 's-other', publicKeyPem: 'k', status: 'pending', nowMs: 1 } as const;
    expect(() => devices.recordFirstContact(otherDevice, set)).toThrow('UNIQUE');
    expect(devices.listAuthSets('d-other')).toEqual([]);
    expect(devices.count()).toBe(1);
  });

  it('creates no device when its set cannot be written', () => {
    meet('a');
    const otherDevice = { id: 'd-b', identity: '{"mac":"b"}' };
    const taken = { id: 's-a', publicKeyPem: 'k', status: 'pending', nowMs: 1 } as const;
    expect(() => devices.recordFirstContact(otherDevice, taken)).toThrow('UNIQUE');
    expect(devices.find('d-b')).toBeUndefined();
  });
});

describe('a stored key of a device', () => {
  it('cannot be recorded twice for the device', () => {
    meet('a');
    expect(() => addKey('a', 'key a')).toThrow('UNIQUE');
    expect(statusesOf('a')).toEqual(['pending']);
  });

  it('may also be the key of another device', () => {
    meet('a');
    meet('b');
    expect(addKey('b', 'key a').deviceId).toBe('d-b');
  });

  it('is found only under its own device', () => {
    meet('a');
    expect(devices.findAuthSet('d-b', 'key a')).toBeUndefined();
    expect(devices.findAuthSet('d-a', 'key b')).toBeUndefined();
  });
});

describe('the status of a device', () => {
  it.each<[AuthSetStatus, AuthSetStatus, AuthSetStatus]>([
    ['pending', 'rejected', 'pending'],
    ['pending', 'preauthorized', 'preauthorized'],
    ['rejected', 'preauthorized', 'preauthorized'],
    ['accepted', 'preauthorized', 'accepted'],
    ['accepted', 'pending', 'accepted'],
    ['accepted', 'rejected', 'accepted'],
    ['rejected', 'rejected', 'rejected'],
  ])('is the better one of the sets %s and %s: %s', (first, second, status) => {
    meet('a', first);
    addKey('a', 'k2', second);
    meet('b', second);
    addKey('b', 'k2', first);
    expect([devices.find('d-a')?.status, devices.find('d-b')?.status]).toEqual([status, status]);
  });

  it('follows its sets and records the time of change', () => {
    const set = meet('a');
    devices.setAuthSetStatus(set, 'rejected', 300);
    expect(devices.find('d-a')).toMatchObject({ status: 'rejected', updatedMs: 300 });
  });
});

describe('accepting an authentication set', () => {
  it("rejects the device's formerly accepted set and no other", () => {
    const [formerSet, otherSet] = [meet('a'), meet('b')];
    for (const set of [formerSet, otherSet]) devices.setAuthSetStatus(set, 'accepted', 1);
    const [next] = [addKey('a', 'k2'), addKey('a', 'k3', 'preauthorized')];
    devices.setAuthSetStatus(next, 'accepted', 2);
    expect(statusesOf('a')).toEqual(['rejected', 'accepted', 'preauthorized']);
    expect(statusesOf('b')).toEqual(['accepted']);
  });

  it('admits the set and excludes the previous one', () => {
    const formerSet = meet('a', 'accepted');
    expect(devices.cache.findByAcceptedSet(formerSet.id)?.deviceId).toBe('d-a');
    devices.setAuthSetStatus(addKey('a', 'k2'), 'accepted', 2);
    expect(devices.cache.findByAcceptedSet(formerSet.id)).toBeUndefined();
    expect(devices.cache.findByAcceptedSet('s-a-k2')?.deviceId).toBe('d-a');
  });

  it.each<AuthSetStatus>(['pending', 'rejected', 'preauthorized'])(
    'is reverted by any other status: %s',
    (status) => {
      const set = meet('a', 'accepted');
      devices.setAuthSetStatus(set, status, 2);
      expect(devices.cache.findByAcceptedSet(set.id)).toBeUndefined();
    },
  );

  it.each<AuthSetStatus>(['pending', 'rejected', 'preauthorized'])(
    'is required, since a set that is %s is not admitted',
    (status) => {
      expect(devices.cache.findByAcceptedSet(meet('a', status).id)).toBeUndefined();
    },
  );
});

describe('a device that is removed', () => {
  it('no longer exists, nor do its sets, and is no longer admitted', () => {
    const set = meet('a', 'accepted');
    meet('b', 'accepted');
    devices.remove('d-a');
    expect(devices.find('d-a')).toBeUndefined();
    expect(devices.findByIdentity('{"mac":"a"}')).toBeUndefined();
    expect(devices.listAuthSets('d-a')).toEqual([]);
    expect(devices.cache.findByAcceptedSet(set.id)).toBeUndefined();
    expect(devices.find('d-b')).toBeDefined();
  });

  it('can return as a new device', () => {
    meet('a', 'accepted');
    devices.remove('d-a');
    expect(meet('a').status).toBe('pending');
  });
});

describe('the list of devices', () => {
  beforeEach(() => {
    for (const name of ['a', 'b', 'c']) meet(name);
    meet('d', 'accepted');
  });

  const idsOf = (filter: Partial<DeviceFilter>, page = wide): readonly string[] =>
    devices.list({ ...everyDevice, ...filter }, page).map(({ id }) => id);

  it('is in order of first contact, in pages', () => {
    expect(idsOf({})).toEqual(['d-a', 'd-b', 'd-c', 'd-d']);
    expect(idsOf({}, { page: 2, perPage: 3 })).toEqual(['d-d']);
    expect(idsOf({}, { page: 3, perPage: 3 })).toEqual([]);
  });

  it('can be filtered by status, by ID, and by both', () => {
    expect(idsOf({ status: ['accepted', 'rejected'] })).toEqual(['d-d']);
    expect(idsOf({ id: ['d-b', 'd-x', 'd-a'] })).toEqual(['d-a', 'd-b']);
    expect(idsOf({ id: ['d-d', 'd-a'], status: ['pending'] })).toEqual(['d-a']);
    expect(idsOf({ status: ['noauth'] })).toEqual([]);
  });

  it('can be counted in total or by status', () => {
    expect([
      devices.count(),
      devices.count({ status: ['pending'] }),
      devices.count({ status: ['noauth'] }),
    ]).toEqual([4, 3, 0]);
  });

  it('can return only the IDs of a page', () => {
    meet('e', 'accepted');
    const accepted = (page: number, perPage: number) =>
      devices.listIds({ status: ['accepted'] }, { page, perPage });
    expect(accepted(1, 10)).toEqual(['d-d', 'd-e']);
    expect(accepted(2, 1)).toEqual(['d-e']);
  });
});

describe('the device data cached in memory', () => {
  it('includes the check-in time, which survives a status change', () => {
    const set = meet('a', 'accepted');
    const cached = devices.cache.findByAcceptedSet(set.id);
    if (cached) cached.checkInMs = 500;
    devices.setAuthSetStatus(set, 'rejected', 600);
    expect(devices.find('d-a')).toMatchObject({ checkInMs: 500, status: 'rejected' });
  });

  it('follows the tables when a transaction is rolled back', () => {
    const set = meet('a');
    const failAfterWriting = (): never => {
      devices.setAuthSetStatus(set, 'accepted', 1);
      meet('b', 'accepted');
      throw new Error('rolled back');
    };
    expect(() => store.atomically(failAfterWriting)).toThrow('rolled back');
    expect(devices.cache.findByAcceptedSet(set.id)).toBeUndefined();
    expect(devices.cache.findByAcceptedSet('s-b')).toBeUndefined();
    expect([devices.find('d-a')?.status, devices.find('d-b')]).toEqual(['pending', undefined]);
  });

  it('returns when a removal is rolled back', () => {
    const set = meet('a', 'accepted');
    const failAfterWriting = (): never => {
      devices.remove('d-a');
      throw new Error('rolled back');
    };
    expect(() => store.atomically(failAfterWriting)).toThrow('rolled back');
    expect(devices.cache.findByAcceptedSet(set.id)?.deviceId).toBe('d-a');
  });
});

describe('the external id of a device', () => {
  it('is stored with its device, where the last one wins', () => {
    meet('a');
    expect(devices.find('d-a')).not.toHaveProperty('externalId');
    devices.recordExternalId('d-a', 'x');
    devices.recordExternalId('d-a', 'y');
    devices.recordExternalId('d-none', 'z');
    expect(devices.find('d-a')?.externalId).toBe('y');
  });
});

describe('the tokens of an authentication set', () => {
  const validFromOf = (name: string, key = `key ${name}`) =>
    setOf(name, key).tokensValidFromSeconds;

  it('are revoked up to the following second, repeatedly', () => {
    const set = meet('a', 'accepted');
    devices.revokeTokens(set, 5_900);
    expect([
      validFromOf('a'),
      devices.cache.findByAcceptedSet(set.id)?.tokensValidFromSeconds,
    ]).toEqual([6, 6]);
    devices.revokeTokens(set, 5_950);
    devices.revokeTokens(set, 4_000);
    expect([
      validFromOf('a'),
      devices.cache.findByAcceptedSet(set.id)?.tokensValidFromSeconds,
    ]).toEqual([8, 8]);
  });

  it.each<AuthSetStatus>(['pending', 'rejected', 'preauthorized'])(
    'are revoked when it becomes %s and stay revoked after a new acceptance',
    (status) => {
      const set = meet('a', 'accepted');
      devices.setAuthSetStatus(set, status, 5_000);
      devices.setAuthSetStatus(set, 'accepted', 9_000);
      expect([
        validFromOf('a'),
        devices.cache.findByAcceptedSet(set.id)?.tokensValidFromSeconds,
      ]).toEqual([6, 6]);
    },
  );

  it('are revoked when another set is accepted, whose own remain valid', () => {
    meet('a', 'accepted');
    const otherSet = addKey('a', 'k2');
    devices.setAuthSetStatus(otherSet, 'accepted', 5_000);
    expect([validFromOf('a'), validFromOf('a', 'k2')]).toEqual([6, 0]);
    expect(devices.cache.findByAcceptedSet(otherSet.id)?.tokensValidFromSeconds).toBe(0);
  });

  it('are restored when the revocation is rolled back', () => {
    const set = meet('a', 'accepted');
    const failAfterWriting = (): never => {
      devices.revokeTokens(set, 5_000);
      throw new Error('rolled back');
    };
    expect(() => store.atomically(failAfterWriting)).toThrow('rolled back');
    expect([
      validFromOf('a'),
      devices.cache.findByAcceptedSet(set.id)?.tokensValidFromSeconds,
    ]).toEqual([0, 0]);
  });
});

describe('an authentication set that is removed', () => {
  it('is no longer admitted; the device gets its best remaining status', () => {
    const set = meet('a', 'accepted');
    addKey('a', 'k2');
    devices.removeAuthSet(set, 700);
    expect(devices.cache.findByAcceptedSet(set.id)).toBeUndefined();
    expect(devices.findAuthSetById(set.id)).toBeUndefined();
    expect(devices.find('d-a')).toMatchObject({ status: 'pending', updatedMs: 700 });
  });

  it('leaves a device without sets as noauth', () => {
    devices.removeAuthSet(meet('a'), 700);
    expect(devices.find('d-a')?.status).toBe('noauth');
  });
});

describe('the number of accepted devices', () => {
  it('follows their sets and counts each device once', () => {
    const set = meet('a', 'accepted');
    const otherSet = addKey('a', 'k2');
    meet('b');
    meet('c', 'accepted');
    expect(devices.cache.countAccepted()).toBe(2);
    devices.setAuthSetStatus(otherSet, 'accepted', 1);
    expect(devices.cache.countAccepted()).toBe(2);
    devices.setAuthSetStatus(otherSet, 'rejected', 1);
    devices.remove('d-c');
    expect(devices.cache.countAccepted()).toBe(0);
    devices.setAuthSetStatus(set, 'accepted', 1);
    expect(devices.cache.countAccepted()).toBe(devices.count({ status: ['accepted'] }));
  });
});

describe('the acceptance time of a device', () => {
  it('is that of its first acceptance', () => {
    const set = meet('a');
    expect(devices.find('d-a')).not.toHaveProperty('acceptedMs');
    devices.setAuthSetStatus(set, 'accepted', 300);
    devices.setAuthSetStatus(set, 'rejected', 400);
    devices.setAuthSetStatus(set, 'accepted', 500);
    expect(devices.find('d-a')?.acceptedMs).toBe(300);
  });
});
