import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from './store.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore();
});

afterEach(() => store.close());

const user = { id: 'u', email: 'admin@example.com', passwordHash: 'salt:hash' };

describe('a user', () => {
  it('is found by id and by e-mail', () => {
    store.users.create(user, 1);
    expect(store.users.find('u')).toEqual(user);
    expect(store.users.findByEmail('admin@example.com')).toEqual(user);
  });

  it.each(['', 'ADMIN@example.com', 'admin@example.com ', 'admin@example.co_', '%'])(
    'is not found by another e-mail: %j',
    (email) => {
      store.users.create(user, 1);
      expect(store.users.findByEmail(email)).toBeUndefined();
    },
  );

  it('is not found by another id', () => {
    store.users.create(user, 1);
    expect(store.users.find('U')).toBeUndefined();
  });

  it('has an id and an e-mail of its own', () => {
    store.users.create(user, 1);
    expect(() => store.users.create({ ...user, id: 'v' }, 1)).toThrow('UNIQUE');
    expect(() => store.users.create({ ...user, email: 'b@example.com' }, 1)).toThrow('UNIQUE');
  });
});
