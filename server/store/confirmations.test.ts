import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Confirmation, ConfirmationStore } from './confirmations.ts';
import { openStore, type Store } from './store.ts';

const password: Confirmation = {
  secretDigest: 'one',
  kind: 'password',
  userId: 'u',
  expiresMs: 5,
};
const email: Confirmation = {
  secretDigest: 'two',
  kind: 'email',
  userId: 'u',
  email: 'n@example.com',
  expiresMs: 6,
};

let store: Store;
let confirmations: ConfirmationStore;

beforeEach(async () => {
  store = await openStore();
  confirmations = store.confirmations;
  confirmations.record(password);
  confirmations.record(email);
});

afterEach(() => store.close());

describe('stored confirmations', () => {
  it('can be found by kind and secret digest', () => {
    expect(confirmations.find('password', 'one')).toEqual(password);
    expect(confirmations.find('email', 'two')).toEqual(email);
    expect(confirmations.find('email', 'one')).toBeUndefined();
    expect(confirmations.find('password', 'other')).toBeUndefined();
  });

  it('can be found by kind and user', () => {
    expect(confirmations.findOf('email', 'u')).toEqual(email);
    expect(confirmations.findOf('email', 'v')).toBeUndefined();
  });

  it('replace the former one of the same user and kind', () => {
    confirmations.record({ ...password, secretDigest: 'three' });
    expect(confirmations.find('password', 'one')).toBeUndefined();
    expect(confirmations.find('password', 'three')).toBeDefined();
    expect(confirmations.find('email', 'two')).toBeDefined();
  });

  it('can be removed by kind, or all of one user', () => {
    confirmations.record({ ...password, userId: 'v', secretDigest: 'four' });
    confirmations.remove('password', 'u');
    expect(confirmations.find('password', 'one')).toBeUndefined();
    expect(confirmations.find('email', 'two')).toBeDefined();
    confirmations.removeAllOf('u');
    expect(confirmations.find('email', 'two')).toBeUndefined();
    expect(confirmations.find('password', 'four')).toBeDefined();
  });
});
