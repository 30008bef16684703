import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { runToEnd } from '../../fixtures/testing/run-to-end.ts';
import type { AuditFilter } from './audit-logs.ts';
import { engines, TestFolder } from './engine/testing/engines.ts';
import type { Store } from './store.ts';

const PER_PAGE = 100;
const orders = ['asc', 'desc'] as const;

/** Times of some thousand entries; the expected content of the log follows from them. */
const forwards = Array.from({ length: 5432 }, (_, at) => 1000 + Math.floor(at / 3));
const random = seededRandom('clock');
const anyhow = forwards.map(() => random.integer(0, 500));
const setBack = [...forwards.slice(0, 3500), ...forwards.slice(0, 1800), 0, 9999];
const standing = forwards.map(() => 7);

describe.each(engines)('an audit log %s', (engine, { openStore }) => {
  let folder: TestFolder;
  let store: Store;
  let times: number[];

  beforeEach(async () => {
    folder = new TestFolder();
    store = await openStore(folder);
    times = [];
  });

  afterEach(() => {
    store.close();
    folder.remove();
  });

  function append(timeMs: number): void {
    const change = String(times.push(timeMs) - 1);
    const actor = { id: 'u', type: 'user', email: 'admin@example.com' } as const;
    const object = { id: 'd', type: 'device' } as const;
    store.auditLogs.append({ timeMs, actor, action: 'update', object, change });
  }

  function appendAll(all: readonly number[]): void {
    store.atomically(() => all.forEach(append));
  }

  /** Returns the text that identifies each entry, in the order of the contract. */
  function expected(order: 'asc' | 'desc'): string[] {
    const upwards = times.map((timeMs, at) => [timeMs, at] as const).toSorted(compareTimes);
    const sorted = order === 'asc' ? upwards : upwards.toReversed();
    return sorted.map(([, at]) => String(at));
  }

  function page(order: 'asc' | 'desc', at: number) {
    const wanted = { page: at + 1, perPage: PER_PAGE };
    const { total, entries } = runToEnd(store.auditLogs.find({ filter: {}, order }, wanted));
    expect(total).toBe(times.length);
    return entries.map(({ change }) => change);
  }

  /** Compares the pages with these numbers, by default every third of 57 pages. */
  function expectPages(numbers = Array.from({ length: 19 }, (_, at) => 3 * at)): void {
    for (const order of orders) {
      const all = expected(order);
      for (const at of numbers) {
        const entries = all.slice(at * PER_PAGE, (at + 1) * PER_PAGE);
        expect(page(order, at), `page ${at}, ${order}`).toEqual(entries);
      }
    }
  }

  it.each([
    ['goes forwards', forwards],
    ['goes anyhow', anyhow],
    ['was set back', setBack],
    ['stands', standing],
  ])('pages through the same entries as the whole list if its clock %s', (_, all) => {
    appendAll(all);
    expectPages();
  });

  it.each([
    ['the middle', [27, 12, 43, 20, 35]],
    ['the newest ones', [54, 50, 40, 30, 20, 10, 11]],
    ['the end of what is there', [55, 56, 1000, 54, 10]],
  ])('has the same pages when %s is requested first', async (_, numbers) => {
    appendAll(anyhow);
    const fork = await store.snapshot();
    // After a restore, the store has no cached places of the log.
    await store.restore(fork);
    fork.discard();
    expectPages(numbers);
    expectPages();
  });

  it('has the same pages after each entry of a clock set back', () => {
    appendAll(forwards.slice(0, 4321));
    expectPages();
    for (const timeMs of [2000, 1500, 0, 3000, 1, 2440]) {
      append(timeMs);
      expectPages([0, 10, 14, 22, 30, 38, 43]);
    }
    appendAll(forwards.slice(1000, 2000));
    expectPages();
  });

  it('has its former pages after appended entries are rolled back', () => {
    appendAll(forwards.slice(0, 3000));
    expectPages();
    const timesBefore = times;
    times = [...timesBefore];
    const failAfterWriting = (): never => {
      for (const timeMs of [5000, 0, 1500, 5000]) append(timeMs);
      for (const timeMs of forwards.slice(2000)) append(timeMs);
      expectPages([10, 25, 35, 60]);
      throw new Error('rolled back');
    };
    expect(() => store.atomically(failAfterWriting)).toThrow('rolled back');
    times = timesBefore;
    expectPages();
    appendAll(forwards.slice(3000));
    expectPages();
  });

  it('has the pages of a restored snapshot', async () => {
    appendAll(forwards.slice(0, 3210));
    const snapshot = await store.snapshot();
    const timesBefore = [...times];
    appendAll(anyhow.slice(0, 1500));
    expectPages();
    await store.restore(snapshot);
    times = timesBefore;
    expectPages();
    append(0);
    expectPages();
  });

  if (engine === 'in a folder') {
    it('has the same pages after it is reopened', async () => {
      appendAll(setBack);
      store.close();
      store = await openStore(folder);
      expectPages([30, 53, 2]);
      append(1234);
      expectPages();
    });
  }

  it.each<[string, AuditFilter, (timeMs: number) => boolean]>([
    ['all', {}, () => true],
    ['those up to a time', { created_before: 2 }, (timeMs) => timeMs <= 2000],
    ['those from a time on', { created_after: 2 }, (timeMs) => timeMs >= 2000],
    [
      'those of a second',
      { created_after: 2, created_before: 2, actor_type: 'user' },
      (timeMs) => timeMs === 2000,
    ],
    ['none', { actor_type: 'device' }, () => false],
  ])('is read in its state at the start: %s', (_, filter, isIn) => {
    appendAll(setBack);
    const all = orders.map((order) => expected(order).filter((at) => isIn(times[Number(at)] ?? 0)));
    const readings = orders.map((order) => store.auditLogs.readBatches({ filter, order }, 20_000));
    const seen = readings.map((batches) => {
      const entries: (string | undefined)[] = [];
      for (const batch of batches) {
        entries.push(...batch.map(({ change }) => change));
        for (const timeMs of [0, 2000, 9999]) append(timeMs);
      }
      return entries;
    });
    expect(seen).toEqual(all);
  });

  it.each([1, 249, 250, 251, 600])('can be read for %d entries at most', (max) => {
    appendAll(setBack.slice(0, 700));
    const batches = store.auditLogs.readBatches({ filter: {}, order: 'desc' }, max);
    const seen = [...batches].flat().map(({ change }) => change);
    expect(seen).toEqual(expected('desc').slice(0, max));
  });
});

function compareTimes(
  [one, first]: readonly [number, number],
  [other, second]: readonly [number, number],
) {
  return one - other || first - second;
}
