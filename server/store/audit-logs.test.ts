import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runToEnd } from '../../fixtures/testing/run-to-end.ts';
import type { AuditFilter, NewAuditEntry } from './audit-logs.ts';
import { openStore, type Store } from './store.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore();
});

afterEach(() => store.close());

const user = { id: 'u', type: 'user', email: 'admin@example.com' } as const;
const device = { id: 'd', type: 'device', identity_data: '{"mac":"1"}' } as const;
const wide = { page: 1, perPage: 500 };

function append(timeMs: number, fields: Partial<NewAuditEntry> = {}): void {
  const object = { id: 'd', type: 'device' } as const;
  store.auditLogs.append({ timeMs, actor: user, action: 'update', object, ...fields });
}

function timesOf(filter: AuditFilter, order: 'asc' | 'desc' = 'asc', page = wide) {
  const { total, entries } = runToEnd(store.auditLogs.find({ filter, order }, page));
  if (page === wide) expect(total).toBe(entries.length);
  return entries.map(({ time }) => Date.parse(time));
}

describe('an audit log entry', () => {
  it('is read back as it was written, with a UTC time in milliseconds', () => {
    const object = { id: 'd', type: 'device', device: { identity_data: '{}' } } as const;
    append(1_795_262_400_250, { actor: device, action: 'create', object, change: 'new' });
    expect(runToEnd(store.auditLogs.find({ filter: {}, order: 'desc' }, wide)).entries).toEqual([
      { actor: device, action: 'create', object, change: 'new', time: '2026-11-21T12:00:00.250Z' },
    ]);
  });

  it('no longer exists when its transaction is rolled back', () => {
    const failAfterWriting = (): never => {
      append(1);
      throw new Error('rolled back');
    };
    expect(() => store.atomically(failAfterWriting)).toThrow('rolled back');
    expect(timesOf({})).toEqual([]);
  });
});

describe('the order of audit log entries', () => {
  it('is by time, ascending or descending', () => {
    for (const timeMs of [2000, 1000, 3000]) append(timeMs);
    expect(timesOf({}, 'asc')).toEqual([1000, 2000, 3000]);
    expect(timesOf({}, 'desc')).toEqual([3000, 2000, 1000]);
  });

  it('is the order of writing within one millisecond', () => {
    for (const change of ['first', 'second', 'third']) append(1, { change });
    const changes = (order: 'asc' | 'desc') =>
      runToEnd(store.auditLogs.find({ filter: {}, order }, wide)).entries.map(
        ({ change }) => change,
      );
    expect(changes('asc')).toEqual(['first', 'second', 'third']);
    expect(changes('desc')).toEqual(['third', 'second', 'first']);
  });

  it('continues across pages until the last entry', () => {
    for (const timeMs of [1, 2, 3]) append(timeMs);
    expect(timesOf({}, 'desc', { page: 1, perPage: 2 })).toEqual([3, 2]);
    expect(timesOf({}, 'desc', { page: 2, perPage: 2 })).toEqual([1]);
    expect(timesOf({}, 'desc', { page: 3, perPage: 2 })).toEqual([]);
  });

  it.each(['asc', 'desc'] as const)('is the same on every page of a long log, %s', (order) => {
    const count = 2345;
    store.atomically(() => {
      // Some entries share a time, and some come from a clock that was set back.
      for (let entry = 0; entry < count; entry++)
        append((entry * 7919) % 1000, { change: `${entry}` });
    });
    const changesOf = (page: number, perPage: number): (string | undefined)[] =>
      runToEnd(store.auditLogs.find({ filter: {}, order }, { page, perPage })).entries.map(
        ({ change }) => change,
      );
    const whole = changesOf(1, count);
    const perPage = 100;
    const pages = Array.from({ length: 24 }, (_, at) => changesOf(at + 1, perPage));
    expect(pages.flat()).toEqual(whole);
    expect(pages.at(-1)).toHaveLength(count % perPage);
    expect(changesOf(25, perPage)).toEqual([]);
    expect(changesOf(1000, perPage)).toEqual([]);
  });
});

describe('the time bounds of an audit log query', () => {
  beforeEach(() => {
    for (const timeMs of [9_999, 10_000, 10_400, 11_000]) append(timeMs);
  });

  it.each<[AuditFilter, readonly number[]]>([
    [{ created_before: 10 }, [9_999, 10_000]],
    [{ created_after: 10 }, [10_000, 10_400, 11_000]],
    [{ created_after: 10, created_before: 10 }, [10_000]],
    [{ created_after: 11, created_before: 10 }, []],
    [{ created_before: -1 }, []],
    [{ created_after: 0 }, [9_999, 10_000, 10_400, 11_000]],
  ])('are whole seconds, both inclusive: %o', (filter, expected) => {
    expect(timesOf(filter)).toEqual(expected);
  });
});

describe('the other filters of an audit log query', () => {
  beforeEach(() => {
    append(1);
    append(2, { actor: device });
    append(3, {
      object: {
        id: 'dep',
        type: 'deployment',
        deployment: { name: 'spring', artifact_name: 'release' },
      },
    });
  });

  it.each<[AuditFilter, readonly number[]]>([
    [{ actor_id: 'u' }, [1, 3]],
    [{ actor_id: 'U' }, []],
    [{ actor_type: 'device' }, [2]],
    [{ actor_email: 'admin@example.com' }, [1, 3]],
    [{ actor_email: 'admin@example.co' }, []],
    [{ object_id: 'dep' }, [3]],
    [{ object_type: 'device' }, [1, 2]],
    [{ object_type: 'tenant' }, []],
    [{ object_deployment_name: 'spring' }, [3]],
    [{ object_deployment_name: 'release' }, []],
    [{ object_deployment_name: '%' }, []],
    [{ actor_type: 'user', object_type: 'device' }, [1]],
    [{ actor_type: 'device', object_type: 'deployment' }, []],
  ])('are exact and combined with AND: %o', (filter, expected) => {
    expect(timesOf(filter)).toEqual(expected);
  });
});

describe('a filtered query of a long audit log', () => {
  const count = 11_000;
  const timeOf = (entry: number): number => (entry * 7919) % 12_000;
  const isDevice = (entry: number): boolean => entry % 1000 === 7 || entry > 10_990;
  const perPage = 10;

  beforeEach(() => {
    store.atomically(() => {
      for (let entry = 0; entry < count; entry++) {
        append(timeOf(entry), { change: `${entry}`, ...(isDevice(entry) && { actor: device }) });
      }
    });
  });

  it('finds the same entries as a check of each one', () => {
    const all = Array.from({ length: count }, (_, entry) => entry);
    const upwards = all.toSorted((one, other) => timeOf(one) - timeOf(other) || one - other);
    const isIn = (from: number, to: number) => (entry: number) =>
      timeOf(entry) >= from && timeOf(entry) <= to;
    const filters: [AuditFilter, (entry: number) => boolean][] = [
      [{ actor_type: 'device' }, isDevice],
      [{ actor_id: 'd', created_after: 2 }, (at) => isDevice(at) && isIn(2000, 12_000)(at)],
      [{ object_id: 'd', created_after: 2, created_before: 9 }, isIn(2000, 9000)],
      [{ actor_email: 'x' }, () => false],
    ];
    for (const [filter, isFound] of filters) {
      for (const order of ['asc', 'desc'] as const) {
        const found = upwards.filter(isFound);
        if (order === 'desc') found.reverse();
        for (const page of [1, 2, Math.ceil((found.length + 1) / perPage), 2000]) {
          const search = { filter, order };
          const { total, entries } = runToEnd(store.auditLogs.find(search, { page, perPage }));
          const wanted = found.slice((page - 1) * perPage, page * perPage).map(String);
          expect([total, entries.map(({ change }) => change)]).toEqual([found.length, wanted]);
        }
      }
    }
  });

  it('runs in steps and ignores entries that are written meanwhile', () => {
    const search = { filter: { actor_type: 'device' }, order: 'desc' } as const;
    const entriesBefore = runToEnd(store.auditLogs.find(search, wide));
    const work = store.auditLogs.find(search, wide);
    let [step, steps] = [work.next(), 1];
    while (!step.done) {
      append(0, { actor: device });
      [step, steps] = [work.next(), steps + 1];
    }
    expect(step.value).toEqual(entriesBefore);
    expect(steps).toBeGreaterThan(3);
  });
});
