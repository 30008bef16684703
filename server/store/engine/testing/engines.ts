/** Stores over both engines, for tests that hold for either. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store } from '../../store.ts';
import type { Sql } from '../sql.ts';
import { openFileSql } from '../sql-file.ts';
import { openMemorySql } from '../sql-memory.ts';

/** Gives a new folder and takes it away with everything in it. */
export class TestFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'fleetbed-test-'));

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

interface Engine {
  openSql(schema: string, folder: TestFolder): Promise<Sql>;
  openStore(folder: TestFolder, name?: string): Promise<Store>;
}

/** The engines by what a test's title says of them. */
export const engines: readonly (readonly [string, Engine])[] = [
  ['in memory', { openSql: openMemorySql, openStore: () => openStore() }],
  [
    'in a folder',
    {
      openSql: async (schema, { path }) => {
        const sql = openFileSql(join(path, 'test.sqlite'));
        sql.script(schema);
        return sql;
      },
      openStore: ({ path }, name = 'store') => openStore({ folder: join(path, name) }),
    },
  ],
];
