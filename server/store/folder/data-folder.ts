/**
 * The data folder: `server.sqlite` with the list of tenants and the server's secrets, and a folder
 * for each tenant below `tenants`. The data of a tenant is handled by its store.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../../fixtures/base/make-folder.ts';
import { lockFile, serverFile, serverShape, tenantsFolder } from '../data-layout.ts';
import { number, text } from '../engine/row.ts';
import type { Sql, SqlRow } from '../engine/sql.ts';
import { StateError, stateError } from '../engine/state-error.ts';
import { storageProblem } from '../engine/storage-error.ts';
import { syncPath } from '../engine/sync-path.ts';
import { openStore, type Store } from '../store.ts';
import type { FolderLock } from './lock.ts';

/** The facts of a tenant outside its store. */
export interface StoredTenant {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly status: 'active' | 'suspended';
  readonly isFirst: boolean;
  readonly createdMs: number;
}

/** An open data folder, locked against other processes. */
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
   * Opens a data folder; creates it if missing or empty. An incomplete or damaged folder is
   * refused, and stays unchanged.
   * @throws StateError when the folder cannot be used
   */
  static async open(path: string): Promise<DataFolder> {
    return DataFolder.#namingFolder(path, async () => {
      // Loaded on demand, because only a server with a data folder needs the file engine.
      const { openStateFile } = await import('../engine/state-file.ts');
      const { lockFolder } = await import('./lock.ts');
      const { checkDataFolder, checkKinds } = await import('./check.ts');
      requireFleetbedFolder(path);
      checkKinds(path);
      // Without a lock file no other process has the folder open, so it is checked before the lock
      // file is created: a refused folder stays unchanged.
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

  /** Returns the secret of this name; creates and stores it if missing. */
  async secret(name: string, make: () => Buffer | Promise<Buffer>): Promise<Buffer> {
    const secret = this.#sql.first('SELECT value FROM secrets WHERE name = ?', [name])?.value;
    if (secret instanceof Uint8Array) return Buffer.from(secret);
    const secretBytes = await make();
    this.keepSecret(name, secretBytes);
    return secretBytes;
  }

  /** Stores a secret; replaces one of the same name. */
  keepSecret(name: string, value: Buffer): void {
    this.#sql.run('INSERT OR REPLACE INTO secrets VALUES (?, ?)', [name, value]);
  }

  /** Returns all tenants whose creation was completed, in order of creation. */
  tenants(): StoredTenant[] {
    return this.#sql.all('SELECT * FROM tenants WHERE is_complete ORDER BY seq').map(storedTenant);
  }

  /**
   * Opens the store of an existing tenant.
   * @throws StateError when the store cannot be used
   */
  openTenant(id: string): Promise<Store> {
    return DataFolder.#namingFolder(this.path, () => openStore({ folder: this.#folderOf(id) }));
  }

  /**
   * Opens the empty store of a new tenant; the next start removes it unless `completeTenant` is
   * called.
   */
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

  /** Removes a tenant with all its data; its store must be closed. */
  removeTenant(id: string): void {
    // If the removal is interrupted, the next start completes it.
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

  /** Runs `work`; adds the folder to the remedy of a StateError about one of its files. */
  static async #namingFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (cause) {
      // A disk error is about the whole folder, whichever file was written.
      const root = cause instanceof StateError ? cause.cause : cause;
      if (storageProblem(root) !== undefined) throw stateError(folder, root);
      const error = stateError(folder, cause);
      if (!(error instanceof StateError)) throw error;
      throw new StateError(error.kind, error.problem, { folder, cause });
    }
  }
}

function requireFleetbedFolder(path: string): void {
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
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    if (!isAbsent) throw cause;
    // Here ENOENT does not mean a missing folder: the system does not permit to create one at this
    // path.
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
