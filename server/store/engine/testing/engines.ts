/** Opens stores on both engines, for tests that apply to either. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store } from '../../store.ts';
import type { Sql } from '../sql.ts';
import { openFileSql } from '../sql-file.ts';
import { openMemorySql } from '../sql-memory.ts';

/** A temporary folder for one test. */
export class TestFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'fleetbed-test-'));

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

interface StorageEngine {
  openSql(schema: string, folder: TestFolder): Promise<Sql>;
  openStore(folder: TestFolder, name?: string): Promise<Store>;
}

/** The engines, with their names in test titles. */
export const engines: readonly (readonly [string, StorageEngine])[] = [
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
