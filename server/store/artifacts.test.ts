import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ArtifactFilter, StoredArtifact } from './artifacts.ts';
import { openStore, type Store } from './store.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore();
});

afterEach(() => store.close());

const wide = { page: 1, perPage: 500 };
const exact = (text: string) => ({ how: 'exact', text }) as const;
const prefix = (text: string) => ({ how: 'prefix', text }) as const;
const part = (text: string) => ({ how: 'part', text }) as const;

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
  const found = store.artifacts.listIds(filter, page);
  if (page === wide) expect(store.artifacts.count(filter)).toBe(found.length);
  return found;
}

describe('an artifact', () => {
  it('is read back as it was saved', () => {
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

  it('has no description when none was given', () => {
    save('a');
    expect(store.artifacts.find('a')?.artifact).not.toHaveProperty('description');
  });

  it('cannot be saved twice under one ID, and other IDs find nothing', () => {
    save('a');
    expect(() => save('a')).toThrow('UNIQUE');
    expect(store.artifacts.find('A')).toBeUndefined();
  });

  it('belongs to the release with exactly its name', () => {
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
    const updates = [{ type_info: { type: null } }, { type_info: { type: 'single-file' } }];
    save('c', { name: 'alp%a', device_types_compatible: ['other'], updates }, 3);
  });

  it('matches a prefix beyond the first plane of Unicode', () => {
    save('d', { name: '\u{1f4e6}-1' }, 4);
    expect(idsOf({ name: [{ how: 'prefix', text: '\u{1f4e6}' }] })).toEqual(['d']);
  });

  it('lists the newest first, page by page', () => {
    expect(idsOf({})).toEqual(['c', 'b', 'a']);
    expect(idsOf({}, { page: 2, perPage: 2 })).toEqual(['a']);
    expect(idsOf({}, { page: 3, perPage: 2 })).toEqual([]);
  });

  it.each<[string, ArtifactFilter, readonly string[]]>([
    ['an exact name', { name: [exact('alpha-1')] }, ['a']],
    ['several names', { name: [exact('alpha-1'), exact('alp%a')] }, ['c', 'a']],
    ['a prefix of a name as the whole', { name: [exact('alpha')] }, []],
    ['a prefix', { name: [prefix('alpha')] }, ['b', 'a']],
    ['a prefix or a name', { name: [prefix('alp%'), exact('alpha-1')] }, ['c', 'a']],
    ['every name', { name: [prefix('')] }, ['c', 'b', 'a']],
    ['a prefix that looks like a pattern', { name: [prefix('alp%')] }, ['c']],
    ['a part of a name, in capitals', { name: [part('PHA-')] }, ['b', 'a']],
    ['a part that looks like a pattern', { name: [part('%')] }, ['c']],
    ['a star within the name', { name: [exact('a*a-1')] }, []],
    ['a description', { description: exact('stable') }, ['a']],
    ['a prefix of a description', { description: prefix('sta') }, ['a']],
    ['an unknown description', { description: exact('stabl') }, []],
    ['a device type', { deviceType: exact('board') }, ['b', 'a']],
    ['a device type beyond ASCII', { deviceType: exact('b\u00e9ta') }, ['b']],
    ['a prefix of a device type', { deviceType: prefix('b\u00e9') }, ['b']],
    ['a part of a device type', { deviceType: exact('boar') }, []],
    ['a device type in quotes', { deviceType: exact('"board"') }, []],
    ['the type of an update', { updateType: 'single-file' }, ['c']],
    ['an unknown type of update', { updateType: 'single' }, []],
    ['two filters at once', { deviceType: exact('board'), name: [exact('alpha-2')] }, ['b']],
    ['two that exclude each other', { deviceType: exact('other'), name: [exact('alpha-2')] }, []],
  ])('can be filtered by %s', (_, filter, expected) => {
    expect(idsOf(filter)).toEqual(expected);
  });
});

describe('a summary of all artifacts', () => {
  it('counts the bytes of their files, each distinct file once', () => {
    expect(store.artifacts.usedBytes()).toBe(0);
    save('a', { name: 'same', size: 100 });
    save('b', { name: 'same', size: 100 });
    save('c', { size: 7 });
    expect(store.artifacts.usedBytes()).toBe(107);
  });

  it('lists their update types, without duplicates and empty ones', () => {
    const typed = (...types: readonly (string | null)[]) => ({
      updates: types.map((type) => ({ type_info: { type } })),
    });
    save('a', typed('single-file', null));
    save('b', typed('rootfs-image', 'single-file'));
    save('c');
    expect(store.artifacts.updateTypes(10)).toEqual(['rootfs-image', 'single-file']);
    expect(store.artifacts.updateTypes(1)).toEqual(['rootfs-image']);
  });
});

describe('an artifact with a changed description', () => {
  it('has the new text and time but is otherwise unchanged', () => {
    save('a', { description: 'old' });
    save('b', { description: 'old' });
    const artifactBefore = store.artifacts.find('a');
    store.artifacts.describe('a', 'new', 86_400_000);
    expect(store.artifacts.find('a')).toEqual({
      ...artifactBefore,
      artifact: {
        ...artifactBefore?.artifact,
        description: 'new',
        modified: '1970-01-02T00:00:00.000Z',
      },
      modifiedMs: 86_400_000,
    });
    expect(store.artifacts.find('b')?.artifact.description).toBe('old');
  });
});

describe('an artifact that is removed', () => {
  it('no longer exists; the result says whether another has its content', () => {
    save('a');
    save('b', { name: 'same' });
    save('c', { name: 'same' });
    expect(store.artifacts.remove('b', 'sum of same')).toEqual({ contentInUse: true });
    expect(store.artifacts.remove('c', 'sum of same')).toEqual({ contentInUse: false });
    expect(idsOf({})).toEqual(['a']);
  });
});
