import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Alert, AttributeValue } from '../../fixtures/contract/resources.ts';
import type { StoredAttribute } from '../rules/inventory.ts';
import { openMemorySql } from './engine/sql-memory.ts';
import { InventoryStore } from './inventory.ts';
import { schema } from './schema.ts';
import { openStore, type Store } from './store.ts';

let store: Store;

beforeEach(async () => {
  store = await openStore();
});

afterEach(() => store.close());

describe('a stored device configuration', () => {
  const whole = {
    configured: { a: '1' },
    reported: { b: '2' },
    deploymentId: 'dep',
    updatedMs: 1,
    reportedMs: 2,
  };

  it('is absent at first and then the last one saved', () => {
    expect(store.configurations.find('d')).toBeUndefined();
    store.configurations.save('d', whole);
    expect(store.configurations.find('d')).toEqual(whole);
    const { deploymentId: _, reportedMs: __, ...minimal } = whole;
    store.configurations.save('d', minimal);
    expect(store.configurations.find('d')).toEqual(minimal);
  });

  it('belongs to one device and can be removed with it', () => {
    store.configurations.save('d', whole);
    store.configurations.save('e', { ...whole, configured: {} });
    store.configurations.remove('d');
    expect(store.configurations.find('d')).toBeUndefined();
    expect(store.configurations.find('e')?.configured).toEqual({});
  });
});

describe('the stored presence of a device', () => {
  it('is absent before the first connection', () => {
    expect(store.connections.find('d')).toBeUndefined();
  });

  it('keeps the times of first connection and last change', () => {
    store.connections.record('d', 'connected', 1);
    store.connections.record('d', 'disconnected', 5);
    expect(store.connections.find('d')).toEqual({
      status: 'disconnected',
      createdMs: 1,
      updatedMs: 5,
    });
    store.connections.record('e', 'connected', 9);
    expect(store.connections.find('d')?.status).toBe('disconnected');
  });

  it('is removed with the device', () => {
    store.connections.record('d', 'connected', 1);
    store.connections.remove('d');
    expect(store.connections.find('d')).toBeUndefined();
    expect([...store.connections.connectedIds()]).toEqual([]);
  });

  it('ends for all devices at once without a write, as after a process end', () => {
    store.atomically(() => store.connections.record('d', 'connected', 1));
    store.connections.record('e', 'connected', 1);
    store.connections.disconnectAll();
    expect(store.connections.find('d')?.status).toBe('disconnected');
    expect(store.connections.find('e')).toMatchObject({ status: 'disconnected', updatedMs: 1 });
  });
});

describe('the stored attributes of a device', () => {
  const kept = (name: string, value: AttributeValue): StoredAttribute => ({
    name,
    value,
    updatedMs: 1,
  });

  it('are read back unchanged, of any kind', () => {
    const all: StoredAttribute[] = [
      { name: 'a.$', value: '', updatedMs: 1 },
      { name: 'b', value: [1, 2.5], updatedMs: 2 },
      { name: 'c', value: ['x', '\u00e9\0\x1a'], description: 'why', updatedMs: 3 },
      { name: 'd', value: -0.5, updatedMs: 3 },
    ];
    store.inventory.replace('d', all);
    expect(store.inventory.list('d')).toEqual(all);
  });

  it('remain when their replacement fails', () => {
    store.inventory.replace('d', [kept('a', 1)]);
    const fails = (): void => {
      store.inventory.replace('d', [kept('b', 1)]);
      throw new Error('too late');
    };
    expect(() => store.atomically(fails)).toThrow('too late');
    expect(store.inventory.list('d')).toEqual([kept('a', 1)]);
  });

  it('belong to one device', () => {
    store.inventory.replace('d', [kept('a', 1)]);
    store.inventory.replace('e', [kept('a', 3)]);
    store.inventory.remove('e');
    expect(store.inventory.list('d')).toEqual([kept('a', 1)]);
    expect(store.inventory.list('e')).toEqual([]);
  });

  it('are separate from its tags, also on removal', () => {
    store.inventory.replace('d', [kept('a', 1)]);
    store.tags.replace('d', [kept('a', 2)]);
    expect([store.inventory.list('d'), store.tags.list('d')]).toEqual([
      [kept('a', 1)],
      [kept('a', 2)],
    ]);
    store.tags.replace('d', []);
    expect([store.inventory.list('d').length, store.tags.list('d').length]).toEqual([1, 0]);
  });

  it('appear in lists as two short texts, without reading their documents', async () => {
    const sql = await openMemorySql(schema);
    const inventory = new InventoryStore(sql, 'inventory');
    inventory.replace('d', [kept('artifact_name', 'r'), kept('device_type', 'x'.repeat(300))]);
    inventory.replace('e', [kept('device_type', ['no', 'text'])]);
    sql.run("UPDATE attributes SET document = 'not JSON'");
    expect([...inventory.shownOf(['d', 'e', 'f'])]).toEqual([
      ['d', { artifactName: 'r', deviceType: `${'x'.repeat(256)}…` }],
      ['e', {}],
    ]);
    sql.close();
  });

  it('have a version once it is set, which is removed with them', () => {
    expect(store.tags.version('d')).toBeUndefined();
    store.tags.setVersion('d', 'v1');
    store.tags.setVersion('d', 'v2');
    expect([store.tags.version('d'), store.inventory.version('d')]).toEqual(['v2', undefined]);
    store.tags.remove('d');
    expect(store.tags.version('d')).toBeUndefined();
  });
});

describe('the stored alerts of a device', () => {
  const subject = { name: 's', type: 't', status: 'running' };
  const alert: Alert = { name: 'n', level: 'OK', subject, timestamp: '2026-01-01T00:00:00Z' };

  function append(device: string, ...issuedMs: readonly number[]): void {
    const alerts = issuedMs.map((ms, index) => ({
      id: `${device}-${ms}-${index}`,
      alert,
      issuedMs: ms,
    }));
    store.monitor.appendAlerts(device, alerts);
  }

  function idsOf(seqs: readonly number[]): string[] {
    return seqs.map((seq) => store.monitor.findAlert(seq)?.id ?? 'none');
  }

  function issued(filter: { issuedAfterMs?: number; issuedBeforeMs?: number } = {}, perPage = 500) {
    return idsOf(store.monitor.alerts('d', { order: 'desc', ...filter }, { page: 1, perPage })).map(
      (id) => Number(id.split('-')[1]),
    );
  }

  it('are listed with IDs, newest first, in pages', () => {
    append('d', 2, 3, 1);
    append('e', 9);
    expect(issued()).toEqual([3, 2, 1]);
    expect(issued({}, 2)).toEqual([3, 2]);
    const [seq = 0, ...otherSeqs] = store.monitor.alerts(
      'd',
      { order: 'desc' },
      { page: 2, perPage: 2 },
    );
    expect(otherSeqs).toEqual([]);
    expect(store.monitor.findAlert(seq)).toEqual({ id: 'd-1-2', ...alert });
  });

  it('can be filtered by time, both bounds inclusive', () => {
    append('d', 1, 2, 3);
    expect(issued({ issuedAfterMs: 2 })).toEqual([3, 2]);
    expect(issued({ issuedBeforeMs: 2 })).toEqual([2, 1]);
    expect(issued({ issuedAfterMs: 3, issuedBeforeMs: 1 })).toEqual([]);
  });

  it('are limited to a thousand, dropping those stored first', () => {
    append('d', ...Array.from({ length: 1000 }, (_, index) => index));
    append('e', 1);
    append('d', 5000);
    expect(issued({ issuedBeforeMs: 1 })).toEqual([1]);
    expect(issued({}, 1)).toEqual([5000]);
    expect(store.monitor.alerts('e', { order: 'desc' }, { page: 1, perPage: 9 })).toHaveLength(1);
  });

  it('are removed together with the monitor configuration', () => {
    append('d', 1);
    store.monitor.saveConfiguration('d', [{ name: 'n', status: 's', type: 't' }]);
    store.monitor.remove('d');
    expect([issued(), store.monitor.findConfiguration('d')]).toEqual([[], undefined]);
  });
});

describe("the subjects of a device's alerts", () => {
  const recordAlert = (level: Alert['level'], name: string, issuedMs: number, device = 'd') => {
    const subject = { name, type: 't', status: 's' };
    const alert = { name: 'n', level, subject, timestamp: '2026-01-01T00:00:00Z' };
    store.monitor.appendAlerts(device, [{ id: `${name}-${issuedMs}`, alert, issuedMs }]);
  };
  const latest = (level?: Alert['level']) =>
    store.monitor.subjects('d', level).map((subject) => store.monitor.findLatest('d', subject)?.id);

  it('have their latest alert, oldest first, of all or one level', () => {
    recordAlert('CRITICAL', 'a', 5);
    recordAlert('OK', 'b', 3);
    recordAlert('OK', 'a', 4);
    expect([latest(), latest('CRITICAL'), latest('OK')]).toEqual([
      ['b-3', 'a-5'],
      ['a-5'],
      ['b-3'],
    ]);
    recordAlert('OK', 'a', 5);
    expect(latest('CRITICAL')).toEqual([]);
  });

  it('are counted per device while critical', () => {
    expect(store.monitor.criticalCount('d')).toBeUndefined();
    recordAlert('CRITICAL', 'a', 1);
    recordAlert('CRITICAL', 'b', 1);
    recordAlert('OK', 'c', 1, 'e');
    expect([store.monitor.criticalCount('d'), store.monitor.criticalCount('e')]).toEqual([2, 0]);
    store.monitor.remove('d');
    expect([store.monitor.criticalCount('d'), latest()]).toEqual([undefined, []]);
  });

  it('are limited to a thousand, dropping the oldest', () => {
    for (let at = 0; at <= 1000; at += 1) recordAlert('CRITICAL', `s${at}`, at);
    expect([store.monitor.criticalCount('d'), latest()[0]]).toEqual([1000, 's1-1']);
  });
});

describe('a stored monitor configuration', () => {
  it('is replaced as a whole, even by an empty one', () => {
    expect(store.monitor.findConfiguration('d')).toBeUndefined();
    store.monitor.saveConfiguration('d', [{ name: 'n', status: 's', type: 't' }]);
    store.monitor.saveConfiguration('d', []);
    expect(store.monitor.findConfiguration('d')).toEqual([]);
  });
});
