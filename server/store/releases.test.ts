import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReleaseOrder } from '../../fixtures/contract/management/releases.ts';
import type { ReleaseFilter } from './releases.ts';
import { openStore, type Store } from './store.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore();
  save('a1', 'alpha', { modifiedMs: 5 });
  save('b1', 'beta', { modifiedMs: 1, deviceType: 'other', description: 'stable' });
  save('b2', 'beta', { modifiedMs: 9, type: 'single-file' });
  save('g1', 'gamma', { modifiedMs: 3 });
  store.releases.describe('gamma', { tags: ['night', 'day'], notes: 'careful' });
  store.releases.describe('beta', { tags: ['day'] });
});

afterEach(() => store.close());

const wide = { page: 1, perPage: 500 };

function save(
  id: string,
  name: string,
  given: { modifiedMs: number; deviceType?: string; description?: string; type?: string },
): void {
  const { modifiedMs, deviceType = 'board', description, type = 'rootfs-image' } = given;
  store.artifacts.save({
    artifact: {
      id,
      name,
      ...(description !== undefined && { description }),
      device_types_compatible: [deviceType],
      updates: [{ type_info: { type } }],
      artifact_provides: {},
      artifact_depends: {},
      size: 1,
      modified: new Date(modifiedMs).toISOString(),
    },
    sha256: id,
    modifiedMs,
  });
}

function namesOf(filter: ReleaseFilter, order: ReleaseOrder = 'name:asc', page = wide) {
  const found = store.releases.names(filter, page, order);
  if (page === wide) expect(store.releases.count(filter)).toBe(found.length);
  return found;
}

describe('a stored release', () => {
  it("has its tags in order, its notes, and its newest artifact's time", () => {
    expect(store.releases.find('gamma')).toEqual({
      name: 'gamma',
      tags: ['day', 'night'],
      notes: 'careful',
      modifiedMs: 3,
    });
    expect(store.releases.find('beta')).toMatchObject({ tags: ['day'], notes: '', modifiedMs: 9 });
    expect(store.releases.find('alpha')).toMatchObject({ tags: [], notes: '' });
  });

  it('does not exist without an artifact', () => {
    expect(store.releases.find('delta')).toBeUndefined();
    expect(store.releases.find('Alpha')).toBeUndefined();
  });

  it('keeps the fields that a change omits', () => {
    store.releases.describe('gamma', { notes: '' });
    expect(store.releases.find('gamma')).toMatchObject({ tags: ['day', 'night'], notes: '' });
    store.releases.describe('gamma', { tags: [] });
    expect(store.releases.find('gamma')).toMatchObject({ tags: [], notes: '' });
  });

  it('loses tags and notes only with its last artifact', () => {
    store.artifacts.remove('b1', 'b1');
    expect(store.releases.find('beta')).toMatchObject({ tags: ['day'] });
    store.artifacts.remove('b2', 'b2');
    expect(store.releases.find('beta')).toBeUndefined();
    save('b3', 'beta', { modifiedMs: 20 });
    expect(store.releases.find('beta')).toMatchObject({ tags: [] });
    expect(store.releases.find('gamma')).toMatchObject({ notes: 'careful' });
  });
});

describe('the list of releases', () => {
  it.each<[ReleaseOrder, readonly string[]]>([
    ['name:asc', ['alpha', 'beta', 'gamma']],
    ['name:desc', ['gamma', 'beta', 'alpha']],
    ['modified:asc', ['gamma', 'alpha', 'beta']],
    ['modified:desc', ['beta', 'alpha', 'gamma']],
    ['artifacts_count:asc', ['alpha', 'gamma', 'beta']],
    ['artifacts_count:desc', ['beta', 'alpha', 'gamma']],
    ['tags:asc', ['gamma', 'beta', 'alpha']],
    ['tags:desc', ['alpha', 'beta', 'gamma']],
  ])('can be ordered by %s', (order, expected) => {
    expect(namesOf({}, order)).toEqual(expected);
  });

  it('is returned in pages', () => {
    expect(namesOf({}, 'name:asc', { page: 2, perPage: 2 })).toEqual(['gamma']);
    expect(namesOf({}, 'name:asc', { page: 3, perPage: 2 })).toEqual([]);
  });

  it.each<[string, ReleaseFilter, readonly string[]]>([
    ['a part of the name', { name: [{ how: 'part', text: 'ET' }] }, ['beta']],
    ['a prefix of the name', { name: [{ how: 'prefix', text: 'al' }] }, ['alpha']],
    ['a tag', { tags: ['day'] }, ['beta', 'gamma']],
    ['one of several tags', { tags: ['night', 'noon'] }, ['gamma']],
    ['a tag that none has', { tags: ['da'] }, []],
    ['the type of an update', { updateType: 'single-file' }, ['beta']],
    ['a device type', { deviceType: { how: 'exact', text: 'other' } }, ['beta']],
    ['a description', { description: { how: 'part', text: 'tab' } }, ['beta']],
    ['two at once', { tags: ['day'], updateType: 'rootfs-image' }, ['beta', 'gamma']],
    ['two that exclude one another', { tags: ['night'], updateType: 'single-file' }, []],
  ])('can be filtered by %s', (_, filter, expected) => {
    expect(namesOf(filter)).toEqual(expected);
  });

  it('shows a filtered release with the time of all its artifacts', () => {
    const [name = ''] = namesOf({ deviceType: { how: 'exact', text: 'other' } });
    expect(store.releases.find(name)?.modifiedMs).toBe(9);
  });
});

describe('the tags of all releases', () => {
  it('are listed without duplicates, optionally without those of one release', () => {
    expect(store.releases.tags()).toEqual(['day', 'night']);
    expect(store.releases.tags({ except: 'gamma' })).toEqual(['day']);
  });
});
