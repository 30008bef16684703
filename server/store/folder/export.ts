/**
 * Exports a data folder as one plain SQLite file. Damaged data is omitted and reported, all other
 * data is saved, so that a refused folder can be recovered.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { NotAFile } from '../../../fixtures/base/plain-file.ts';
import {
  artifactsFolder,
  contentName,
  lockFile,
  serverFile,
  tenantFile,
  tenantFolderName,
  tenantsFolder,
} from '../data-layout.ts';
import { checkDatabase } from '../engine/database-check.ts';
import { text } from '../engine/row.ts';
import { insertRow } from '../engine/sql.ts';
import { type FileSql, openPlainSql } from '../engine/sql-file.ts';
import { StateError, stateError } from '../engine/state-error.ts';
import { copyDatabase, versionOf } from '../engine/state-file.ts';
import { syncPath } from '../engine/sync-path.ts';
import { type FileContent, fileOfSize } from '../files.ts';
import { SCHEMA_VERSION } from '../schema.ts';
import { type FolderLock, lockFolder } from './lock.ts';
import {
  PART_BYTES,
  type StateTable,
  stateFormat,
  stateSchema,
  stateVersion,
  tenantTables,
} from './state-tables.ts';

/** The result of an export. */
export interface ExportedState {
  readonly tenants: number;
  readonly rows: number;
  readonly artifactFiles: number;
  /** One sentence for each part that could not be read; empty when nothing was lost. */
  readonly lost: readonly string[];
}

interface FolderExportOptions {
  readonly folder: string;
  readonly out: string;
  /** Creates a token for a tenant whose own was lost. */
  readonly newToken: () => string;
}

/**
 * Writes the state of a closed data folder to a file that only this user can read.
 * @throws StateError when the folder is in use, has another version, or is not a data folder
 */
export async function exportState(options: FolderExportOptions): Promise<ExportedState> {
  const tables = await tenantTables();
  // One fixed name, so that drafts of an interrupted export are found and removed.
  const drafts = `${options.out}.draft`;
  rmSync(drafts, { recursive: true, force: true });
  mkdirSync(drafts, { mode: 0o700 });
  const draft = join(drafts, 'state.sqlite');
  closeSync(openSync(draft, 'wx', 0o600));
  const out = openPlainSql(draft);
  try {
    out.script(stateSchema(tables));
    const exported = new StateExport(out, { ...options, drafts }, tables).run();
    // Written last, so that an incomplete export is not accepted as complete.
    out.run('INSERT INTO state VALUES (?, ?)', [stateFormat, stateVersion]);
    out.abandon();
    syncPath(draft);
    renameSync(draft, options.out);
    return exported;
  } finally {
    out.abandon();
    rmSync(drafts, { recursive: true, force: true });
  }
}

class StateExport {
  readonly #out: FileSql;
  readonly #options: FolderExportOptions & { readonly drafts: string };
  readonly #tables: readonly StateTable[];
  readonly #lost: string[] = [];
  /** Tenants whose creation or removal was in progress. */
  readonly #unfinished = new Set<string>();
  #rows = 0;
  #artifactFiles = 0;

  constructor(
    out: FileSql,
    options: FolderExportOptions & { readonly drafts: string },
    tables: readonly StateTable[],
  ) {
    this.#out = out;
    this.#options = options;
    this.#tables = tables;
  }

  run(): ExportedState {
    const { folder } = this.#options;
    if (!existsSync(join(folder, serverFile)) && !existsSync(join(folder, tenantsFolder))) {
      throw new StateError('foreign', `${folder} has no fleetbed data`);
    }
    const lock = lockIfPossible(folder);
    try {
      const ids = this.#exportServer();
      for (const id of ids) this.#exportTenant(id);
      const counts = { rows: this.#rows, artifactFiles: this.#artifactFiles };
      return { tenants: ids.length, ...counts, lost: this.#lost };
    } finally {
      lock?.release();
    }
  }

  /** Reads a copy of a database, because opening a damaged one would change it. */
  #readCopy(path: string, read: (sql: FileSql) => void): void {
    const isDamaged = this.#findDamage(path);
    const copy = join(this.#options.drafts, 'copy.sqlite');
    try {
      if (!existsSync(path)) return;
      copyDatabase(path, copy);
      const sql = openPlainSql(copy);
      try {
        read(sql);
      } finally {
        sql.abandon();
      }
    } catch (cause) {
      // A damaged database may have lost its version number.
      const isAnothers = cause instanceof StateError && cause.kind === 'version';
      if (isAnothers && !isDamaged) throw cause;
      this.#lose(path, cause);
    } finally {
      for (const name of readdirSync(this.#options.drafts)) {
        if (name.startsWith('copy.')) rmSync(join(this.#options.drafts, name));
      }
    }
  }

  #findDamage(path: string): boolean {
    try {
      checkDatabase(path);
      return false;
    } catch (cause) {
      this.#lose(path, cause);
      return true;
    }
  }

  /**
   * Exports the list of tenants; returns their IDs. Adds tenants that have a folder but are not
   * listed.
   */
  #exportServer(): string[] {
    const listedIds: string[] = [];
    this.#readCopy(join(this.#options.folder, serverFile), (server) => {
      for (const row of server.all('SELECT * FROM secrets')) insertRow(this.#out, 'secrets', row);
      for (const row of server.all('SELECT * FROM tenants WHERE is_complete ORDER BY seq')) {
        insertRow(this.#out, 'tenants', row);
        listedIds.push(text(row, 'id'));
      }
      const incompleteRows = server.all('SELECT id FROM tenants WHERE NOT is_complete');
      for (const row of incompleteRows) this.#unfinished.add(text(row, 'id'));
    });
    return [...listedIds, ...this.#tenantsByFolder(listedIds)];
  }

  #tenantsByFolder(listed: readonly string[]): string[] {
    const path = join(this.#options.folder, tenantsFolder);
    const isLost = (name: string): boolean =>
      tenantFolderName.test(name) && !listed.includes(name) && !this.#unfinished.has(name);
    const ids = existsSync(path) ? readdirSync(path).filter(isLost) : [];
    for (const [at, id] of ids.entries()) {
      const token = this.#options.newToken();
      const tenantValues = { id, name: `Recovered ${at + 1}`, token, status: 'active' };
      const isFirst = listed.length === 0 && at === 0;
      insertRow(this.#out, 'tenants', {
        ...tenantValues,
        is_first: isFirst ? 1 : 0,
        created_ms: 0,
        is_complete: 1,
      });
    }
    if (ids.length > 0) {
      this.#lose(
        path,
        `the names and tokens of the tenants are lost; ${ids.length} unlisted tenants got new ones`,
      );
    }
    return ids;
  }

  #exportTenant(id: string): void {
    const path = join(this.#options.folder, tenantsFolder, id, tenantFile);
    this.#readCopy(path, (tenant) => {
      requireVersion(tenant, path);
      for (const table of this.#tables) this.#exportTable(id, tenant, { path, table });
    });
    this.#exportContents(id);
  }

  /** Copies the rows of a table up to the first row that cannot be read. */
  #exportTable(
    id: string,
    tenant: FileSql,
    { path, table }: { path: string; table: StateTable },
  ): void {
    const { name, columns } = table;
    const rowsSoFar = this.#rows;
    // NOT INDEXED keeps the original order of the rows; an index would change it.
    const query = `SELECT ${columns.join(', ')} FROM ${name} NOT INDEXED`;
    this.#out.atomically(() => {
      try {
        for (const row of tenant.each(query)) {
          insertRow(this.#out, name, { tenant: id, ...row });
          this.#rows += 1;
        }
      } catch (cause) {
        const savedText = `table ${name}: ${this.#rows - rowsSoFar} rows saved, the others are lost`;
        this.#lose(path, `${savedText}: ${messageOf(cause)}`);
      }
    });
  }

  /**
   * Exports the files of artifacts; omits an artifact whose file is lost, and files that belong to
   * no artifact.
   */
  #exportContents(id: string): void {
    const folder = join(this.#options.folder, tenantsFolder, id, artifactsFolder);
    const query = `SELECT min(name) AS name, sha256, size_bytes FROM artifacts
      WHERE tenant = ? GROUP BY sha256`;
    for (const { name, sha256, size_bytes: size } of this.#out.all(query, [id])) {
      const path = join(folder, String(sha256));
      try {
        const content = { sha256: String(sha256), sizeBytes: Number(size) };
        this.#out.atomically(() => this.#exportContent(id, path, content));
        this.#artifactFiles += 1;
      } catch (cause) {
        this.#lose(path, cause);
        const loss = `the file of the artifact ${name} is lost`;
        this.#lose(path, `${loss}, so the artifact is left out`);
        const deletion = 'DELETE FROM artifacts WHERE tenant = ? AND sha256 IS ?';
        this.#rows -= this.#out.run(deletion, [id, sha256 ?? null]);
      }
    }
  }

  #exportContent(id: string, path: string, { sha256, sizeBytes }: FileContent): void {
    if (!contentName.test(sha256)) throw new Error('no artifact file has this name');
    const hash = createHash('sha256');
    let part = 0;
    for (const content of partsOf(fileOfSize(path, sizeBytes))) {
      hash.update(content);
      insertRow(this.#out, 'artifact_files', { tenant: id, sha256, part, content });
      part += 1;
    }
    if (hash.digest('hex') !== sha256) throw new Error('its content has changed');
    // An empty file is also stored as one part.
    if (part === 0) {
      insertRow(this.#out, 'artifact_files', {
        tenant: id,
        sha256,
        part,
        content: Buffer.alloc(0),
      });
    }
  }

  #lose(path: string, cause: unknown): void {
    const error = cause instanceof NotAFile ? stateError(path, cause) : cause;
    const loss = error instanceof StateError ? error.problem : `${path}: ${messageOf(error)}`;
    if (!this.#lost.includes(loss)) this.#lost.push(loss);
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/**
 * Locks the folder. A folder that is not writable is exported without a lock, because no server can
 * have it open.
 */
function lockIfPossible(folder: string): FolderLock | undefined {
  try {
    return lockFolder(join(folder, lockFile));
  } catch (error) {
    if (error instanceof StateError && error.kind !== 'in use') return undefined;
    throw error;
  }
}

/**
 * Throws for another version. If the database is damaged, the caller counts this as part of the
 * damage.
 */
function requireVersion(tenant: FileSql, path: string): void {
  const version = versionOf(tenant);
  if (version === SCHEMA_VERSION) return;
  throw new StateError('version', `${path} has version ${version} of the tables`);
}

function* partsOf(path: string): Generator<Buffer> {
  const descriptor = openSync(path, 'r');
  try {
    for (;;) {
      const part = Buffer.alloc(PART_BYTES);
      const length = readSync(descriptor, part);
      if (length === 0) return;
      yield part.subarray(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}
