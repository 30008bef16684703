import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from './store.ts';

const user = { id: 'u', email: 'admin@example.com', passwordHash: 'salt:hash' };
const everybody = { id: [], email: [] };

let store: Store;

beforeEach(async () => {
  store = await openStore();
});

afterEach(() => store.close());

/** Creates the users `a` to `d`, made and changed at the moments 1 to 4. */
function makeFour(): void {
  for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) {
    store.users.create({ id, email: `${id}@example.com` }, index + 1);
  }
}

function idsOf(filter: Parameters<Store['users']['list']>[0], perPage = 20, page = 1): string[] {
  return store.users.list(filter, { page, perPage }).map(({ id }) => id);
}

describe('stored users', () => {
  it('can be found by ID and by email', () => {
    store.users.create(user, 1);
    const stored = { ...user, roles: [], createdMs: 1, updatedMs: 1 };
    expect(store.users.find('u')).toEqual(stored);
    expect(store.users.findByEmail('admin@example.com')).toEqual(stored);
  });

  it('have emails in lower case', () => {
    store.users.create({ ...user, email: 'Admin@Example.COM' }, 1);
    expect(store.users.find('u')?.email).toBe('admin@example.com');
    expect(store.users.findByEmail('ADMIN@example.com')?.id).toBe('u');
  });

  it.each(['', 'admin', 'admin@example.com ', "admin@example.com' OR '1'='1", '%'])(
    'cannot be found by the email %j',
    (email) => {
      store.users.create(user, 1);
      expect(store.users.findByEmail(email)).toBeUndefined();
    },
  );

  it('cannot be found by an ID in other letter case', () => {
    store.users.create(user, 1);
    expect(store.users.find('U')).toBeUndefined();
  });

  it('are unique by ID and by email', () => {
    store.users.create(user, 1);
    expect(() => store.users.create({ ...user, id: 'v' }, 1)).toThrow('UNIQUE');
    expect(() => store.users.create({ ...user, email: 'b@example.com' }, 1)).toThrow('UNIQUE');
    expect(() => store.users.create({ ...user, id: 'v', email: 'ADMIN@example.com' }, 1)).toThrow(
      'UNIQUE',
    );
  });

  it('may have no password until one is set', () => {
    store.users.create({ id: 'u', email: 'a@example.com' }, 1);
    expect(store.users.find('u')).not.toHaveProperty('passwordHash');
    store.users.change('u', { passwordHash: 'salt:new' }, 2);
    expect(store.users.find('u')).toMatchObject({ passwordHash: 'salt:new', updatedMs: 2 });
  });

  it('keep the fields that a change omits', () => {
    store.users.create({ ...user, roles: ['A'] }, 1);
    store.users.change('u', { email: 'New@example.com' }, 2);
    expect(store.users.find('u')).toMatchObject({
      email: 'new@example.com',
      passwordHash: 'salt:hash',
      roles: ['A'],
      createdMs: 1,
    });
    store.users.change('u', { roles: [] }, 3);
    expect(store.users.find('u')).toMatchObject({ email: 'new@example.com', roles: [] });
  });

  it('keep the time of their last login', () => {
    store.users.create(user, 1);
    store.users.recordLogin('u', 7);
    expect(store.users.find('u')).toMatchObject({ loginMs: 7, updatedMs: 1 });
  });

  it('no longer exist once removed', () => {
    store.users.create(user, 1);
    store.users.remove('u');
    expect(store.users.find('u')).toBeUndefined();
  });
});

describe('a list of users', () => {
  beforeEach(makeFour);

  it('is in order of creation, page by page', () => {
    expect(idsOf(everybody, 3)).toEqual(['a', 'b', 'c']);
    expect(idsOf(everybody, 3, 2)).toEqual(['d']);
    expect(idsOf(everybody, 3, 3)).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ['ids', { id: ['c', 'a', 'x'] }, ['a', 'c']],
    ['emails in whatever case', { email: ['B@example.com'] }, ['b']],
    ['the moment after which they were made', { createdAfterMs: 2 }, ['c', 'd']],
    ['the moment before which they were made', { createdBeforeMs: 2 }, ['a']],
    ['the moment after which they were changed', { updatedAfterMs: 3 }, ['d']],
    ['the moment before which they were changed', { updatedBeforeMs: 3 }, ['a', 'b']],
    ['all of it together', { id: ['a', 'b'], createdAfterMs: 1 }, ['b']],
  ])('can be filtered by %s', (_, filter, ids) => {
    expect(idsOf({ ...everybody, ...filter })).toEqual(ids);
    expect(store.users.count({ ...everybody, ...filter })).toBe(ids.length);
  });
});

describe('the holders of a role', () => {
  it('are the users with that role among theirs', () => {
    store.users.create({ id: 'a', email: 'a@example.com', roles: ['R', 'S'] }, 1);
    store.users.create({ id: 'b', email: 'b@example.com', roles: ['RS'] }, 1);
    store.users.create({ id: 'c', email: 'c@example.com' }, 1);
    expect(store.users.holders('R', 9).map(({ id }) => id)).toEqual(['a']);
    expect(store.users.holders('%', 9)).toEqual([]);
  });
});
