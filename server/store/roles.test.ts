import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../rules/access.ts';
import { openStore, type Store } from './store.ts';

const role: Role = {
  name: 'testers',
  description: 'who test',
  grants: [
    { set: 'ReadDevices', groups: ['a'] },
    { method: 'GET', pattern: '^/x', operations: ['list-users'] },
  ],
};

let store: Store;

beforeEach(async () => {
  store = await openStore();
});

afterEach(() => store.close());

describe('stored roles', () => {
  it('are read back as they were stored', () => {
    store.roles.create(role);
    expect(store.roles.find('testers')).toEqual(role);
    expect(store.roles.find('Testers')).toBeUndefined();
  });

  it('cannot be created twice under one name', () => {
    store.roles.create(role);
    expect(() => store.roles.create(role)).toThrow('UNIQUE');
    expect(store.roles.count()).toBe(1);
  });

  it('are listed in order of creation', () => {
    for (const name of ['z', 'a', 'm']) store.roles.create({ ...role, name });
    const names = store.roles.list({ page: 1, perPage: 2 }).map(({ name }) => name);
    expect([names, store.roles.list({ page: 3, perPage: 2 })]).toEqual([['z', 'a'], []]);
  });

  it('are changed by their name', () => {
    store.roles.create(role);
    store.roles.create({ ...role, name: 'other' });
    store.roles.change({ name: 'testers', description: '', grants: [] });
    expect(store.roles.find('testers')).toEqual({ name: 'testers', description: '', grants: [] });
    expect(store.roles.find('other')).toEqual({ ...role, name: 'other' });
  });

  it('no longer exist once removed', () => {
    store.roles.create(role);
    store.roles.remove('testers');
    expect([store.roles.find('testers'), store.roles.count()]).toEqual([undefined, 0]);
  });
});
