import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openStore } from './store.ts';

const user = { id: 'u', email: 'u@example.com', passwordHash: 'none' };

describe('a store', () => {
  it('is empty and alone: two of them share nothing', async () => {
    const [one, other] = [await openStore(), await openStore()];
    one.users.create(user, 1);
    expect(other.users.find('u')).toBeUndefined();
    expect(one.files.folder).not.toBe(other.files.folder);
    one.close();
    other.close();
  });

  it('undoes all areas together', async () => {
    const store = await openStore();
    const undone = (): never => {
      store.users.create(user, 1);
      store.connections.record('d', 'connected', 1);
      store.inventory.replace('d', [{ name: 'a', value: 1 }], 1);
      store.atomically(() => store.configurations.remove('d'));
      throw new Error('undone');
    };
    expect(() => store.atomically(undone)).toThrow('undone');
    expect(store.users.find('u')).toBeUndefined();
    expect(store.connections.find('d')).toBeUndefined();
    expect(store.inventory.list('d')).toEqual([]);
    store.close();
  });

  it('gives what its work gives', async () => {
    const store = await openStore();
    expect(store.atomically(() => 7)).toBe(7);
    store.close();
  });

  it('leaves no files behind, and answers nothing, once it is closed', async () => {
    const store = await openStore();
    const { folder } = store.files;
    expect(existsSync(folder)).toBe(true);
    store.close();
    expect(existsSync(folder)).toBe(false);
    expect(() => store.users.create(user, 1)).toThrow();
  });
});
