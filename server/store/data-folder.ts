/**
 * The data folder: `server.sqlite` with the list of worlds and the server's secrets, which also
 * locks the whole folder, and a folder for each world below `worlds`. Not what is in a world.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { number, text } from './row.ts';
import type { Sql, SqlRow } from './sql.ts';
import { StateFault, stateFault } from './state-fault.ts';
import { openStore, type Store } from './store.ts';
import { syncPath } from './sync-path.ts';

/** What is known of a world beside its store. */
export interface StoredWorld {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly status: 'active' | 'suspended';
  readonly isFirst: boolean;
  readonly createdMs: number;
}

/** Version and tables of `server.sqlite`. */
export const serverShape = {
  version: 1,
  schema: `
CREATE TABLE worlds (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  token TEXT NOT NULL,
  status TEXT NOT NULL,
  is_first INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  is_complete INTEGER NOT NULL
);
CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID;
`,
};

export const serverFile = 'server.sqlite';
export const worldsFolder = 'worlds';

/** An open data folder, which no other process can open meanwhile. */
export class DataFolder {
  readonly path: string;
  readonly #sql: Sql;

  private constructor(path: string, sql: Sql) {
    this.path = path;
    this.#sql = sql;
  }

  /**
   * Opens a data folder, or makes one of an empty folder or of none.
   * @throws StateFault
   */
  static async open(path: string): Promise<DataFolder> {
    return DataFolder.#telling(path, async () => {
      const { openStateFile } = await import('./state-file.ts');
      requireOurs(path);
      const folder = new DataFolder(path, openStateFile(join(path, serverFile), serverShape));
      folder.#removeUnfinished();
      return folder;
    });
  }

  /** A secret that stays the same once it was made. */
  async secret(name: string, make: () => Buffer | Promise<Buffer>): Promise<Buffer> {
    const known = this.#sql.first('SELECT value FROM secrets WHERE name = ?', [name])?.value;
    if (known instanceof Uint8Array) return Buffer.from(known);
    const made = await make();
    this.keepSecret(name, made);
    return made;
  }

  /** Sets a secret anew. */
  keepSecret(name: string, value: Buffer): void {
    this.#sql.run('INSERT OR REPLACE INTO secrets VALUES (?, ?)', [name, value]);
  }

  /** In order of creation. */
  worlds(): StoredWorld[] {
    return this.#sql.all('SELECT * FROM worlds WHERE is_complete ORDER BY seq').map(world);
  }

  /** Opens the store of a world that is there. @throws StateFault */
  openWorld(id: string): Promise<Store> {
    return DataFolder.#telling(this.path, () => openStore({ folder: this.#folderOf(id) }));
  }

  /** Opens the empty store of a new world, which is gone after a restart unless it is completed. */
  async beginWorld(row: StoredWorld): Promise<Store> {
    this.#sql.run(
      `INSERT INTO worlds (id, name, token, status, is_first, created_ms, is_complete)
       VALUES (?, ?, ?, ?, ?, ?, 0)`,
      [row.id, row.name, row.token, row.status, row.isFirst ? 1 : 0, row.createdMs],
    );
    const store = await this.openWorld(row.id);
    syncPath(join(this.path, worldsFolder));
    syncPath(this.path);
    return store;
  }

  completeWorld(id: string): void {
    this.#sql.run('UPDATE worlds SET is_complete = 1 WHERE id = ?', [id]);
  }

  setStatus(id: string, status: StoredWorld['status']): void {
    this.#sql.run('UPDATE worlds SET status = ? WHERE id = ?', [status, id]);
  }

  /** Forgets a world with everything in it; its store must be closed. */
  removeWorld(id: string): void {
    // Whatever stops this midway leaves a world that the next start takes away.
    this.#sql.run('UPDATE worlds SET is_complete = 0 WHERE id = ?', [id]);
    rmSync(this.#folderOf(id), { recursive: true, force: true });
    this.#sql.run('DELETE FROM worlds WHERE id = ?', [id]);
  }

  close(): void {
    this.#sql.close();
  }

  #removeUnfinished(): void {
    const rows = this.#sql.all('SELECT id FROM worlds WHERE NOT is_complete');
    for (const row of rows) this.removeWorld(text(row, 'id'));
  }

  #folderOf(id: string): string {
    return join(this.path, worldsFolder, id);
  }

  /** A fault of a file within the folder tells the folder in its way out. */
  static async #telling<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (cause) {
      const fault = stateFault(folder, cause);
      if (!(fault instanceof StateFault)) throw fault;
      throw new StateFault(fault.kind, fault.what, { folder, cause });
    }
  }
}

function requireOurs(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const names = readdirSync(path);
  if (names.length === 0 || names.includes(serverFile)) return;
  if (names.includes(worldsFolder)) {
    throw new StateFault('damaged', `${join(path, serverFile)} is missing`);
  }
  throw new StateFault('foreign', `${path} holds other files, and no data of fleetbed`);
}

function world(row: SqlRow): StoredWorld {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    token: text(row, 'token'),
    status: text(row, 'status') === 'suspended' ? 'suspended' : 'active',
    isFirst: number(row, 'is_first') === 1,
    createdMs: number(row, 'created_ms'),
  };
}
