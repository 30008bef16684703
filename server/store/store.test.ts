import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engines, TestFolder } from './engine/testing/engines.ts';
import { openStore } from './store.ts';

const user = { id: 'u', email: 'u@example.com', passwordHash: 'none' };

let folder: TestFolder;

beforeEach(() => {
  folder = new TestFolder();
});

afterEach(() => folder.remove());

describe.each(engines)('a store %s', (_engine, { openStore: open }) => {
  it('is empty and shares nothing with another store', async () => {
    const [one, other] = [await open(folder, 'one'), await open(folder, 'other')];
    one.users.create(user, 1);
    expect(other.users.find('u')).toBeUndefined();
    expect(one.files.folder).not.toBe(other.files.folder);
    one.close();
    other.close();
  });

  it('undoes the changes of all areas together', async () => {
    const store = await open(folder);
    const failAfterWriting = (): never => {
      store.users.create(user, 1);
      store.connections.record('d', 'connected', 1);
      store.inventory.replace('d', [{ name: 'a', value: 1, updatedMs: 1 }]);
      store.atomically(() => store.configurations.remove('d'));
      throw new Error('rolled back');
    };
    expect(() => store.atomically(failAfterWriting)).toThrow('rolled back');
    expect(store.users.find('u')).toBeUndefined();
    expect(store.connections.find('d')).toBeUndefined();
    expect(store.inventory.list('d')).toEqual([]);
    store.close();
  });

  it("returns the result of a transaction's work", async () => {
    const store = await open(folder);
    expect(store.atomically(() => 7)).toBe(7);
    store.close();
  });

  it('refuses every call once it is closed', async () => {
    const store = await open(folder);
    store.close();
    expect(() => store.users.create(user, 1)).toThrow();
  });
});

describe('a store in memory', () => {
  it('leaves no files behind when it is closed', async () => {
    const store = await openStore();
    const { folder: files } = store.files;
    expect(existsSync(files)).toBe(true);
    store.close();
    expect(existsSync(files)).toBe(false);
  });
});
