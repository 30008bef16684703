/** Creates a data folder from an exported state. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../../fixtures/base/make-folder.ts';
import { plainFile } from '../../../fixtures/base/plain-file.ts';
import {
  artifactsFolder,
  contentName,
  lockFile,
  serverFile,
  serverShape,
  tenantFile,
  tenantFolderName,
  tenantsFolder,
} from '../data-layout.ts';
import { number, text } from '../engine/row.ts';
import type { Sql } from '../engine/sql.ts';
import { type FileSql, openPlainSql } from '../engine/sql-file.ts';
import { StateError, stateError } from '../engine/state-error.ts';
import { openStateFile } from '../engine/state-file.ts';
import { syncPath } from '../engine/sync-path.ts';
import { tenantShape } from '../schema.ts';
import { DataFolder } from './data-folder.ts';
import { type FolderLock, lockFolder } from './lock.ts';
import { type StateTable, stateFormat, stateVersion, tenantTables } from './state-tables.ts';

/** The result of an import. */
export interface ImportedState {
  readonly tenants: number;
  readonly rows: number;
  readonly artifactFiles: number;
  /**
   * Number of rows that violate a constraint of the tables; rows saved from a damaged folder may.
   */
  readonly rowsLeftOut: number;
}

/**
 * Fills an empty or missing folder; leaves it unchanged when the import fails.
 * @throws StateError when the folder is not empty, or the file is not an exported state of this
 * version
 */
export async function importState(file: string, folder: string): Promise<ImportedState> {
  requireEmpty(folder);
  const tables = await tenantTables();
  const draft = `${folder}.importing`;
  const state = openState(file);
  try {
    const lock = beginDraft(draft);
    try {
      const imported = new StateImport({ file, state, draft, tables }).run();
      lock.release();
      await checkFolder(draft);
      if (existsSync(folder)) rmdirSync(folder);
      renameSync(draft, folder);
      syncPath(dirname(folder));
      return imported;
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  } catch (error) {
    throw stateError(file, error);
  } finally {
    state.abandon();
  }
}

/**
 * Creates the draft folder, and removes the content that an interrupted import left. The lock
 * ensures that no other process uses it.
 */
function beginDraft(draft: string): FolderLock {
  makeFolder(draft, 0o700);
  const names = new Set([lockFile, tenantsFolder]);
  const foreign = readdirSync(draft).find(
    (name) => !names.has(name) && !name.startsWith(serverFile),
  );
  if (foreign !== undefined) throw new StateError('foreign', `${draft} has other files`);
  const lock = lockFolder(join(draft, lockFile));
  for (const name of readdirSync(draft)) {
    if (name !== lockFile) rmSync(join(draft, name), { recursive: true });
  }
  return lock;
}

function requireEmpty(folder: string): void {
  try {
    if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  } catch (error) {
    throw stateError(folder, error);
  }
  throw new StateError('foreign', `${folder} is not empty`);
}

function openState(file: string): FileSql {
  try {
    closeSync(openSync(plainFile(file), 'r'));
    const state = openPlainSql(file);
    try {
      requireState(file, state);
      return state;
    } catch (error) {
      state.abandon();
      throw error;
    }
  } catch (error) {
    throw exportProblem(file, error);
  }
}

function requireState(file: string, state: Sql): void {
  const isState = state.first("SELECT 1 FROM sqlite_master WHERE name = 'state'") !== undefined;
  const stated = isState ? state.first('SELECT * FROM state') : undefined;
  if (stated?.format !== stateFormat) {
    throw new StateError('not exported', `${file} is not an exported state`);
  }
  if (stated.version !== stateVersion) {
    throw new StateError(
      'other export',
      `${file} has version ${stated.version}, but this fleetbed reads version ${stateVersion}`,
    );
  }
}

function exportProblem(file: string, error: unknown): unknown {
  const reason = stateError(file, error);
  const isDamaged = reason instanceof StateError && reason.kind === 'damaged';
  return isDamaged ? new StateError('not exported', reason.problem, { cause: error }) : reason;
}

/**
 * Opens the folder as the server will, so that a folder the server would refuse is refused here.
 */
async function checkFolder(path: string): Promise<void> {
  const data = await DataFolder.open(path);
  try {
    for (const { id } of data.tenants()) (await data.openTenant(id)).close();
  } finally {
    data.close();
  }
}

interface ImportInputs {
  readonly file: string;
  readonly state: FileSql;
  readonly draft: string;
  readonly tables: readonly StateTable[];
}

class StateImport {
  readonly #inputs: ImportInputs;
  #rows = 0;
  #rowsLeftOut = 0;
  #artifactFiles = 0;

  constructor(inputs: ImportInputs) {
    this.#inputs = inputs;
  }

  run(): ImportedState {
    const { state, draft } = this.#inputs;
    const ids = state.all('SELECT id FROM tenants ORDER BY seq').map((row) => text(row, 'id'));
    const foreign = ids.find((id) => !tenantFolderName.test(id));
    if (foreign !== undefined) throw this.#changed(`the tenant ${JSON.stringify(foreign)}`);
    for (const id of ids) {
      const folder = join(draft, tenantsFolder, id);
      this.#fill(join(folder, tenantFile), tenantShape, (sql) => this.#copyTables(id, sql));
      this.#writeContents(id, join(folder, artifactsFolder));
    }
    // Written last, so that an incomplete import is refused: it has tenant folders, but no list of
    // tenants.
    this.#fill(join(draft, serverFile), serverShape, (sql) => {
      sql.run('INSERT INTO secrets SELECT * FROM state.secrets');
      sql.run('INSERT INTO tenants SELECT * FROM state.tenants');
    });
    const { tenants, rows } = { tenants: ids.length, rows: this.#rows };
    return { tenants, rows, artifactFiles: this.#artifactFiles, rowsLeftOut: this.#rowsLeftOut };
  }

  #fill(path: string, shape: { schema: string; version: number }, work: (sql: Sql) => void): void {
    const sql = openStateFile(path, shape);
    try {
      sql.run('ATTACH ? AS state', [this.#inputs.file]);
      sql.atomically(() => work(sql));
      sql.run('DETACH state');
    } finally {
      sql.close();
    }
  }

  #copyTables(id: string, sql: Sql): void {
    for (const { name, columns } of this.#inputs.tables) {
      const columnList = columns.join(', ');
      const row = sql.first(`SELECT count(*) AS n FROM state.${name} WHERE tenant = ?`, [id]);
      const inserted = sql.run(
        `INSERT OR IGNORE INTO main.${name} (${columnList})
         SELECT ${columnList} FROM state.${name} WHERE tenant = ? ORDER BY state.${name}.rowid`,
        [id],
      );
      this.#rows += inserted;
      this.#rowsLeftOut += (row ? number(row, 'n') : 0) - inserted;
    }
  }

  #writeContents(id: string, folder: string): void {
    const { state } = this.#inputs;
    mkdirSync(folder, { mode: 0o700 });
    const query = 'SELECT DISTINCT sha256 FROM artifact_files WHERE tenant = ?';
    for (const row of state.all(query, [id])) {
      const name = text(row, 'sha256');
      if (!contentName.test(name)) throw this.#changed(`the artifact file ${JSON.stringify(name)}`);
      this.#writeContent(id, join(folder, name), name);
      this.#artifactFiles += 1;
    }
    syncPath(folder);
  }

  #writeContent(id: string, path: string, name: string): void {
    const descriptor = openSync(path, 'wx', 0o600);
    const hash = createHash('sha256');
    try {
      for (const content of this.#partsOf(id, name)) {
        hash.update(content);
        writeSync(descriptor, content);
      }
    } finally {
      closeSync(descriptor);
    }
    if (hash.digest('hex') !== name) throw this.#changed(`the artifact file ${name}`);
    syncPath(path);
  }

  *#partsOf(id: string, name: string): Generator<Uint8Array> {
    const query = 'SELECT content FROM artifact_files WHERE tenant = ? AND sha256 = ? AND part = ?';
    for (let part = 0; ; part += 1) {
      const content = this.#inputs.state.first(query, [id, name, part])?.content;
      if (!(content instanceof Uint8Array)) return;
      yield content;
    }
  }

  #changed(subject: string): StateError {
    return new StateError(
      'not exported',
      `${this.#inputs.file} was changed: ${subject} differs from the export`,
    );
  }
}
