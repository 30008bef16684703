import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runInNextIteration } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { engines, TestFolder } from './engine/testing/engines.ts';
import { openStore, type Store } from './store.ts';

const large = 'x'.repeat(250_000);
/** The maximum number of writes, each larger than the log's room without a checkpoint. */
const WRITES = 20;

function attribute(value: string) {
  return { name: 'a', value, updatedMs: 1 };
}

/** Calls `act` in each iteration of the event loop until the work is done. */
async function meanwhile(
  work: Promise<unknown>,
  act: (iteration: number) => void,
): Promise<number> {
  let iterations = 0;
  let isDone = false;
  const runIteration = (): void => {
    if (isDone) return;
    act(iterations);
    iterations += 1;
    runInNextIteration(runIteration);
  };
  runInNextIteration(runIteration);
  await work.finally(() => {
    isDone = true;
  });
  return iterations;
}

describe.each(engines)('a large store %s', (engine, { openStore }) => {
  // This many devices take several turns to copy.
  const devices = engine === 'in memory' ? 640 : 128;
  let folder: TestFolder;
  let store: Store;

  beforeEach(async () => {
    folder = new TestFolder();
    store = await openStore(folder);
    for (let at = 0; at < devices; at++) write(at, large);
  });

  afterEach(() => {
    store.close();
    folder.remove();
  });

  function write(at: number, value: string): void {
    store.inventory.replace(`d${at}`, [attribute(value)]);
  }

  function readValues(): unknown[] {
    const ids = Array.from({ length: devices }, (_, at) => store.inventory.list(`d${at}`));
    return ids.map(([attribute]) => attribute?.value);
  }

  it('lets other work have turns while it is copied', async () => {
    expect(await meanwhile(store.snapshot(), () => undefined)).toBeGreaterThan(1);
  });

  it('is copied in the state of one moment, despite writes meanwhile', async () => {
    const copying = store.snapshot();
    let written = 0;
    await meanwhile(copying, (iteration) => {
      if (iteration >= WRITES) return;
      // One transaction makes all these writes, so a copy has each of them or none.
      store.atomically(() => {
        for (let at = 0; at < devices; at += 16) write(at, `${iteration}${large}`);
      });
      written += 1;
    });
    expect(written).toBeGreaterThan(0);
    write(1, 'later');
    await store.restore(await copying);
    const values = readValues();
    const changed = new Set(values.filter((_, at) => at % 16 === 0));
    expect(changed.size).toBe(1);
    expect(values[1]).toBe(large);
  });

  it('can be copied twice at the same time', async () => {
    const [first, second] = await Promise.all([store.snapshot(), store.snapshot()]);
    write(0, 'later');
    first.discard();
    await store.restore(second);
    expect(readValues()[0]).toBe(large);
  });

  it('rejects a copy in progress when it is closed', async () => {
    const copying = store.snapshot();
    store.close();
    await expect(copying).rejects.toThrow('closed');
    store = await openStore(folder, 'other');
  });
});

describe('the restore of a large store in memory', () => {
  let store: Store;

  beforeEach(async () => {
    store = await openStore();
    for (let at = 0; at < 640; at++) store.inventory.replace(`d${at}`, [attribute(large)]);
  });

  afterEach(() => store.close());

  it('lets other work have turns', async () => {
    const restoring = store.restore(await store.snapshot());
    expect(await meanwhile(restoring, () => undefined)).toBeGreaterThan(1);
  });

  it('changes nothing when the snapshot is discarded meanwhile', async () => {
    const snapshot = await store.snapshot();
    store.inventory.replace('d0', [attribute('kept')]);
    const restoring = store.restore(snapshot);
    snapshot.discard();
    await expect(restoring).rejects.toThrow('the state cannot be copied');
    expect(store.inventory.list('d0')).toEqual([attribute('kept')]);
  });
});

describe.each(engines)('a database %s', (_engine, { openSql }) => {
  const tables = {
    numbered: 'seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, value TEXT UNIQUE',
    named: 'name TEXT PRIMARY KEY, value TEXT UNIQUE',
    paired: 'name TEXT, value TEXT UNIQUE, PRIMARY KEY (name, value)',
    gone: 'name TEXT PRIMARY KEY, value TEXT',
  };

  it('is restored row by row to its former state after any change', async () => {
    const random = seededRandom('restored row by row');
    const folder = new TestFolder();
    const statements = Object.entries(tables).map(
      ([name, columns]) =>
        `CREATE TABLE ${name} (${columns})${name === 'paired' ? ' WITHOUT ROWID' : ''};`,
    );
    const trigger = `CREATE TRIGGER removed AFTER DELETE ON numbered BEGIN
      INSERT OR REPLACE INTO gone VALUES (old.name, old.value); END;`;
    const sql = await openSql(`${statements.join('')}${trigger}`, folder);
    const any = (): string => String(random.integer(0, 8));
    const change = (): void => {
      const table = random.pick(['numbered', 'named', 'paired']);
      const how = random.integer(0, 3);
      if (how === 0) sql.run(`DELETE FROM ${table} WHERE name = ?`, [any()]);
      else if (how === 1) {
        sql.run(`UPDATE OR REPLACE ${table} SET value = ? WHERE name = ?`, [any(), any()]);
      } else sql.run(`INSERT OR REPLACE INTO ${table} (name, value) VALUES (?, ?)`, [any(), any()]);
    };
    const dump = () =>
      Object.keys(tables).map((table) =>
        sql.all(`SELECT ${table === 'paired' ? '' : 'rowid, '}* FROM ${table} ORDER BY 1, 2`),
      );
    const context = {
      keptTables: new Set<string>(),
      beforeRestore() {},
      within() {},
      afterRestore() {},
    };
    for (let iteration = 0; iteration < 40; iteration++) {
      for (let count = 0; count < 12; count++) change();
      const copy = await sql.copy();
      const dumpBefore = dump();
      for (let count = 0; count < 12; count++) change();
      await sql.restore(copy, context);
      expect(dump()).toEqual(dumpBefore);
      copy.discard();
    }
    sql.close();
    folder.remove();
  });
});
