import { describe, expect, it } from 'vitest';
import { ReadCache, TableChanges } from './table-changes.ts';

const update = 'UPDATE device_deployments SET log = ? WHERE device_id = ?';

function cacheOf() {
  const changes = new TableChanges();
  const reads = new ReadCache<number>(changes, ['deployments', 'device_deployments'], 2);
  let count = 0;
  const read = (key: string): number =>
    reads.get(key, () => {
      count += 1;
      return count;
    });
  return { changes, reads, read };
}

describe('the cache of reads', () => {
  it.each([
    [update],
    ['INSERT INTO main.deployments SELECT * FROM snapshot.deployments'],
    ['DELETE FROM device_deployments'],
  ])('is cleared after %s', (statement) => {
    const { changes, read } = cacheOf();
    expect([read('a'), read('a')]).toEqual([1, 1]);
    changes.note(statement);
    changes.note(statement);
    expect([read('a'), read('a')]).toEqual([2, 2]);
  });

  it('remains while other tables change, and is cleared by a rollback', () => {
    const { changes, read } = cacheOf();
    read('a');
    changes.note('UPDATE artifacts SET description = ?');
    changes.note('UPDATE devices_of_device_deployments_of_ours SET a = 1');
    expect(read('a')).toBe(1);
    changes.noteAll();
    expect(read('a')).toBe(2);
  });

  it('remains for all keys except the written one', () => {
    const { changes, reads, read } = cacheOf();
    expect([read('a'), read('b')]).toEqual([1, 2]);
    reads.writeOne('a', () => changes.note(update));
    expect([read('a'), read('b')]).toEqual([3, 2]);
  });

  it('does not revive stale values after a write to one key', () => {
    const { changes, reads, read } = cacheOf();
    expect([read('a'), read('b')]).toEqual([1, 2]);
    changes.note(update);
    reads.writeOne('a', () => changes.note(update));
    expect([read('b'), read('a')]).toEqual([3, 4]);
  });

  it('contains a limited number of keys', () => {
    const { reads, read } = cacheOf();
    for (const key of ['a', 'b', 'c']) read(key);
    expect([reads.peek('a'), reads.peek('c')]).toEqual([undefined, 3]);
  });
});
