import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeviceFilter } from './device-filter.ts';
import { openStore, type Store } from './store.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore();
  for (const [at, name] of ['a', 'b', 'c'].entries()) {
    const set = { id: `s-${name}`, publicKeyPem: name, status: 'accepted' } as const;
    const nowMs = 100 * (at + 1);
    store.devices.recordFirstContact({ id: name, identity: `"${name}"` }, { ...set, nowMs });
  }
  const pending = { id: 's-d', publicKeyPem: 'd', status: 'pending', nowMs: 100 } as const;
  store.devices.recordFirstContact({ id: 'd', identity: '"d"' }, pending);
  store.groups.assign('a', 'blue');
  store.groups.assign('b', 'red');
});

afterEach(() => store.close());

describe('a device filter in the store', () => {
  it.each<[DeviceFilter, string]>([
    [{}, 'abcd'],
    [{ status: [], id: [] }, 'abcd'],
    [{ status: ['pending'] }, 'd'],
    [{ id: ['c', 'a', 'x'] }, 'ac'],
    [{ group: 'blue' }, 'a'],
    [{ group: 'green' }, ''],
    [{ groups: ['blue', 'red'] }, 'ab'],
    [{ groups: [] }, ''],
    [{ groups: ['red'], group: 'blue' }, ''],
    [{ hasGroup: true }, 'ab'],
    [{ hasGroup: false }, 'cd'],
    [{ hasGroup: false, groups: ['blue'] }, ''],
    [{ acceptedByMs: 99 }, ''],
    [{ acceptedByMs: 200 }, 'ab'],
    [{ acceptedByMs: 900, status: ['accepted'], hasGroup: false }, 'c'],
  ])('finds and counts by %j the devices %j', (filter, expected) => {
    const page = { page: 1, perPage: 100 };
    expect(store.devices.list(filter, page).map(({ id }) => id)).toEqual([...expected]);
    expect(store.devices.listIds(filter, page)).toEqual([...expected]);
    expect(store.devices.count(filter)).toBe(expected.length);
  });
});
