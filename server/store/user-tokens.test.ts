import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from './store.ts';
import type { UserTokenStore } from './user-tokens.ts';

const page = { page: 1, perPage: 20 };

let store: Store;
let tokens: UserTokenStore;

beforeEach(async () => {
  store = await openStore();
  tokens = store.userTokens;
});

afterEach(() => store.close());

function openSessions(count: number, userId = 'u'): void {
  for (let number = 1; number <= count; number += 1) {
    tokens.record({ id: `${userId}-${number}`, userId, kind: 'session' }, number);
  }
}

describe('stored sessions', () => {
  it('are limited to ten per user, and the oldest end first', () => {
    openSessions(12);
    expect(tokens.find('u-1')).toBeUndefined();
    expect(tokens.find('u-2')).toBeUndefined();
    expect(tokens.find('u-3')).toMatchObject({ userId: 'u', kind: 'session' });
    expect(tokens.find('u-12')).toBeDefined();
  });

  it('end for one user without those of another, and without other kinds of tokens', () => {
    tokens.record({ id: 'first', userId: 'u', kind: 'first' }, 0);
    tokens.record({ id: 'pat', userId: 'u', kind: 'personal', name: 'ci' }, 0);
    openSessions(1, 'v');
    openSessions(11);
    expect(['first', 'pat', 'v-1'].map((id) => tokens.find(id)?.id)).toEqual([
      'first',
      'pat',
      'v-1',
    ]);
  });
});

describe('stored user tokens', () => {
  it('no longer exist once ended', () => {
    openSessions(2);
    tokens.end('u-1');
    expect([tokens.find('u-1'), tokens.find('u-2')?.id]).toEqual([undefined, 'u-2']);
  });

  it('end together for a user, except the one in use', () => {
    openSessions(3);
    tokens.record({ id: 'pat', userId: 'u', kind: 'personal', name: 'ci' }, 4);
    openSessions(1, 'v');
    tokens.endAllOf('u', 'u-2');
    const left = ['u-1', 'u-2', 'u-3', 'pat', 'v-1'].filter((id) => tokens.find(id));
    expect(left).toEqual(['u-2', 'v-1']);
    tokens.endAllOf('u');
    expect(tokens.find('u-2')).toBeUndefined();
  });

  it('are deleted after expiry when another is recorded if they are personal', () => {
    tokens.record({ id: 'old', userId: 'u', kind: 'personal', name: 'a', expiresMs: 10 }, 1);
    tokens.record({ id: 'new', userId: 'v', kind: 'session', expiresMs: 20 }, 10);
    expect([tokens.find('old'), tokens.find('new')?.id]).toEqual([undefined, 'new']);
  });

  it('stay after expiry if they are sessions, since the clock may be set back', () => {
    tokens.record({ id: 'old', userId: 'u', kind: 'session', expiresMs: 10 }, 1);
    tokens.record({ id: 'new', userId: 'v', kind: 'session', expiresMs: 20 }, 10);
    expect(tokens.find('old')?.id).toBe('old');
  });

  it('keep the time of their last use', () => {
    openSessions(1);
    tokens.recordUse('u-1', 77);
    expect(tokens.find('u-1')).toMatchObject({ lastUsedMs: 77 });
  });
});

describe('personal access tokens', () => {
  beforeEach(() => {
    tokens.record({ id: 'a', userId: 'u', kind: 'personal', name: 'one' }, 1);
    tokens.record({ id: 'b', userId: 'u', kind: 'personal', name: 'two', expiresMs: 100 }, 2);
    tokens.record({ id: 'c', userId: 'v', kind: 'personal', name: 'one' }, 3);
    openSessions(1);
  });

  it('are listed for their user in order of creation', () => {
    expect(tokens.personal('u', 50, page)).toEqual([
      { id: 'a', name: 'one', createdMs: 1 },
      { id: 'b', name: 'two', createdMs: 2, expiresMs: 100 },
    ]);
    expect(tokens.personal('u', 50, { page: 2, perPage: 1 }).map(({ id }) => id)).toEqual(['b']);
  });

  it('do not count once they have expired', () => {
    expect([tokens.countPersonal('u', 99), tokens.countPersonal('u', 100)]).toEqual([2, 1]);
    expect(tokens.hasPersonal('u', 'two', 99)).toBe(true);
    expect(tokens.hasPersonal('u', 'two', 100)).toBe(false);
  });

  it('may reuse the name of an expired one', () => {
    tokens.record({ id: 'd', userId: 'u', kind: 'personal', name: 'two' }, 100);
    expect(tokens.personal('u', 100, page).map(({ id }) => id)).toEqual(['a', 'd']);
  });

  it('have unique names among those of one user', () => {
    expect(() => tokens.record({ id: 'd', userId: 'u', kind: 'personal', name: 'one' }, 5)).toThrow(
      'UNIQUE',
    );
  });

  it('can be revoked only by their user, without an effect on other tokens', () => {
    expect(tokens.revokePersonal('u', 'c')).toBeUndefined();
    expect(tokens.revokePersonal('u', 'u-1')).toBeUndefined();
    expect(tokens.revokePersonal('u', 'a')).toBe('one');
    expect(tokens.revokePersonal('u', 'a')).toBeUndefined();
    expect(['a', 'c', 'u-1'].filter((id) => tokens.find(id))).toEqual(['c', 'u-1']);
  });
});
