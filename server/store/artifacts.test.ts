import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ArtifactFilter, StoredArtifact } from './artifacts.ts';
import { openStore, type Store } from './store.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore();
});

afterEach(() => store.close());

const wide = { page: 1, perPage: 500 };

function save(id: string, fields: Partial<StoredArtifact['artifact']> = {}, modifiedMs = 1): void {
  store.artifacts.save({
    artifact: {
      id,
      name: 'release',
      device_types_compatible: ['board'],
      artifact_provides: {},
      artifact_depends: {},
      size: 4096,
      modified: new Date(modifiedMs).toISOString(),
      ...fields,
    },
    sha256: `sum of ${fields.name ?? id}`,
    modifiedMs,
  });
}

function idsOf(filter: ArtifactFilter, page = wide): readonly string[] {
  const found = store.artifacts.list(filter, page).map(({ artifact }) => artifact.id);
  if (page === wide) expect(store.artifacts.count(filter)).toBe(found.length);
  return found;
}

describe('an artifact', () => {
  it('is found as it was saved', () => {
    save('a', { description: 'first', artifact_depends: { device_type: ['board'] } });
    expect(store.artifacts.find('a')).toEqual({
      artifact: {
        id: 'a',
        name: 'release',
        description: 'first',
        device_types_compatible: ['board'],
        artifact_provides: {},
        artifact_depends: { device_type: ['board'] },
        size: 4096,
        modified: '1970-01-01T00:00:00.001Z',
      },
      sha256: 'sum of a',
      modifiedMs: 1,
    });
  });

  it('has no description when it was given none', () => {
    save('a');
    expect(store.artifacts.find('a')?.artifact).not.toHaveProperty('description');
  });

  it('is not saved twice under one id, and not found under another', () => {
    save('a');
    expect(() => save('a')).toThrow('UNIQUE');
    expect(store.artifacts.find('A')).toBeUndefined();
  });

  it('is one of a release by its exact name', () => {
    save('a', {}, 2);
    save('b', {}, 1);
    save('c', { name: 'release*' });
    const ids = store.artifacts.findByName('release').map(({ artifact }) => artifact.id);
    expect(ids).toEqual(['b', 'a']);
    expect(store.artifacts.findByName('Release')).toEqual([]);
  });
});

describe('the list of artifacts', () => {
  beforeEach(() => {
    save('a', { name: 'alpha-1', description: 'stable' }, 1);
    save('b', { name: 'alpha-2', device_types_compatible: ['board', 'b\u00e9ta'] }, 2);
    save('c', { name: 'alp%a', device_types_compatible: ['other'] }, 3);
  });

  it('knows a prefix beyond the first plane of Unicode', () => {
    save('d', { name: '\u{1f4e6}-1' }, 4);
    expect(idsOf({ name: '\u{1f4e6}*' })).toEqual(['d']);
  });

  it('has the newest first, in pages', () => {
    expect(idsOf({})).toEqual(['c', 'b', 'a']);
    expect(idsOf({}, { page: 2, perPage: 2 })).toEqual(['a']);
    expect(idsOf({}, { page: 3, perPage: 2 })).toEqual([]);
  });

  it.each<[string, ArtifactFilter, readonly string[]]>([
    ['an exact name', { name: 'alpha-1' }, ['a']],
    ['a part of a name', { name: 'alpha' }, []],
    ['a prefix', { name: 'alpha*' }, ['b', 'a']],
    ['every name', { name: '*' }, ['c', 'b', 'a']],
    ['a prefix that looks like a pattern', { name: 'alp%*' }, ['c']],
    ['a star within the name', { name: 'a*a-1' }, []],
    ['a description', { description: 'stable' }, ['a']],
    ['an unknown description', { description: 'stabl' }, []],
    ['a device type', { deviceType: 'board' }, ['b', 'a']],
    ['a device type beyond ASCII', { deviceType: 'b\u00e9ta' }, ['b']],
    ['a part of a device type', { deviceType: 'boar' }, []],
    ['a device type in quotes', { deviceType: '"board"' }, []],
    ['two filters at once', { deviceType: 'board', name: 'alpha-2' }, ['b']],
    ['two filters that exclude each other', { deviceType: 'other', name: 'alpha-2' }, []],
  ])('is narrowed by %s', (_, filter, expected) => {
    expect(idsOf(filter)).toEqual(expected);
  });
});

describe('an artifact that is removed', () => {
  it('is gone, and tells whether another one has its content', () => {
    save('a');
    save('b', { name: 'same' });
    save('c', { name: 'same' });
    expect(store.artifacts.remove('b', 'sum of same')).toEqual({ contentInUse: true });
    expect(store.artifacts.remove('c', 'sum of same')).toEqual({ contentInUse: false });
    expect(idsOf({})).toEqual(['a']);
  });
});
