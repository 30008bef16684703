/**
 * The data folder: `server.sqlite` with the list of tenants and the server's secrets, and a folder
 * for each tenant below `tenants`. Not the data within a tenant.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../../fixtures/make-folder.ts';
import { lockFile, serverFile, serverShape, tenantsFolder } from '../data-layout.ts';
import { number, text } from '../engine/row.ts';
import type { Sql, SqlRow } from '../engine/sql.ts';
import { StateError, stateError } from '../engine/state-error.ts';
import { storageProblem } from '../engine/storage-error.ts';
import { syncPath } from '../engine/sync-path.ts';
import { openStore, type Store } from '../store.ts';
import type { FolderLock } from './lock.ts';

/** The facts of a tenant besides its store. */
export interface StoredTenant {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly status: 'active' | 'suspended';
  readonly isFirst: boolean;
  readonly createdMs: number;
}

/** An open data folder, which no other process can open meanwhile. */
export class DataFolder {
  readonly path: string;
  readonly #lock: FolderLock;
  readonly #sql: Sql;

  private constructor(path: string, lock: FolderLock, sql: Sql) {
    this.path = path;
    this.#lock = lock;
    this.#sql = sql;
  }

  /**
   * Opens a data folder, or makes one of an empty folder or of none. One that is not whole is
   * refused, and stays as it is.
   * @throws StateError
   */
  static async open(path: string): Promise<DataFolder> {
    return DataFolder.#telling(path, async () => {
      // The engine is loaded by those only who keep something.
      const { openStateFile } = await import('../engine/state-file.ts');
      const { lockFolder } = await import('./lock.ts');
      const { checkDataFolder, checkKinds } = await import('./check.ts');
      requireOurs(path);
      checkKinds(path);
      // Without a lock nobody else is there, and a folder that is refused gets none.
      if (!existsSync(join(path, lockFile))) checkDataFolder(path);
      const lock = lockFolder(join(path, lockFile));
      try {
        checkDataFolder(path);
        const sql = openStateFile(join(path, serverFile), serverShape);
        const folder = new DataFolder(path, lock, sql);
        folder.#removeUnfinished();
        return folder;
      } catch (error) {
        lock.release();
        throw error;
      }
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

  /** Stores a secret, and replaces one of the same name. */
  keepSecret(name: string, value: Buffer): void {
    this.#sql.run('INSERT OR REPLACE INTO secrets VALUES (?, ?)', [name, value]);
  }

  /** All tenants whose creation was completed, in order of creation. */
  tenants(): StoredTenant[] {
    return this.#sql.all('SELECT * FROM tenants WHERE is_complete ORDER BY seq').map(storedTenant);
  }

  /** Opens the store of a tenant that is there. @throws StateError */
  openTenant(id: string): Promise<Store> {
    return DataFolder.#telling(this.path, () => openStore({ folder: this.#folderOf(id) }));
  }

  /** Opens the empty store of a new tenant; a restart removes it unless it is completed. */
  async beginTenant(row: StoredTenant): Promise<Store> {
    this.#sql.run(
      `INSERT INTO tenants (id, name, token, status, is_first, created_ms, is_complete)
       VALUES (?, ?, ?, ?, ?, ?, 0)`,
      [row.id, row.name, row.token, row.status, row.isFirst ? 1 : 0, row.createdMs],
    );
    const store = await this.openTenant(row.id);
    syncPath(join(this.path, tenantsFolder));
    syncPath(this.path);
    return store;
  }

  completeTenant(id: string): void {
    this.#sql.run('UPDATE tenants SET is_complete = 1 WHERE id = ?', [id]);
  }

  setStatus(id: string, status: StoredTenant['status']): void {
    this.#sql.run('UPDATE tenants SET status = ? WHERE id = ?', [status, id]);
  }

  /** Forgets a tenant with everything in it; its store must be closed. */
  removeTenant(id: string): void {
    // Whatever stops this midway leaves a tenant that the next start takes away.
    this.#sql.run('UPDATE tenants SET is_complete = 0 WHERE id = ?', [id]);
    rmSync(this.#folderOf(id), { recursive: true, force: true });
    this.#sql.run('DELETE FROM tenants WHERE id = ?', [id]);
  }

  close(): void {
    try {
      this.#sql.close();
    } finally {
      this.#lock.release();
    }
  }

  #removeUnfinished(): void {
    const rows = this.#sql.all('SELECT id FROM tenants WHERE NOT is_complete');
    for (const row of rows) this.removeTenant(text(row, 'id'));
  }

  #folderOf(id: string): string {
    return join(this.path, tenantsFolder, id);
  }

  /** Adds the folder to the remedy in a fault of one of its files. */
  static async #telling<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (cause) {
      // The disk is the whole folder's, whichever file was to be written.
      const root = cause instanceof StateError ? cause.cause : cause;
      if (storageProblem(root) !== undefined) throw stateError(folder, root);
      const fault = stateError(folder, cause);
      if (!(fault instanceof StateError)) throw fault;
      throw new StateError(fault.kind, fault.what, { folder, cause });
    }
  }
}

function requireOurs(path: string): void {
  makeDataFolder(path);
  const names = readdirSync(path).filter((name) => name !== lockFile);
  const isOurs = names.some((name) => name === tenantsFolder || name.startsWith(serverFile));
  if (names.length === 0 || isOurs) return;
  throw new StateError('foreign', `${path} has other files, but no fleetbed data`);
}

function makeDataFolder(path: string): void {
  try {
    makeFolder(path, 0o700);
  } catch (cause) {
    const isOfNone = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    if (!isOfNone) throw cause;
    // Not that it is missing is the fault, but that the system makes no folder there.
    throw new StateError('unreadable', `${path} cannot be created (${cause.message})`, { cause });
  }
}

function storedTenant(row: SqlRow): StoredTenant {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    token: text(row, 'token'),
    status: text(row, 'status') === 'suspended' ? 'suspended' : 'active',
    isFirst: number(row, 'is_first') === 1,
    createdMs: number(row, 'created_ms'),
  };
}
