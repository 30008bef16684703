/** Opens and reads database files of the state; each is checked before it is opened. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { plainFile } from '../../../fixtures/base/plain-file.ts';
import { checkDatabase, countSalvageableBytes } from './database-check.ts';
import type { Sql } from './sql.ts';
import { type FileSql, openFileSql, openPlainSql, openSqlInPlace } from './sql-file.ts';
import { StateError, stateError } from './state-error.ts';
import { noSpace, storageProblem } from './storage-error.ts';
import { syncPath } from './sync-path.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

/** The schema and version that a file must have. */
export interface StateShape {
  readonly schema: string;
  readonly version: number;
}

/** Maximum number of findings in an error message. */
const FINDINGS_MAX = 3;
/** Number of bytes that are copied at a time. */
const COPIED_BYTES = 2 ** 20;

/**
 * Reads a state file, which must exist and be closed, without changing it.
 * @throws StateError when it is damaged, or has another version
 */
export function readStateFile<Result>(
  path: string,
  shape: StateShape,
  read: (sql: Sql) => Result,
): Result {
  try {
    const { isOpen, hasChecksums } = checkDatabase(path);
    return withPlainSql(path, isOpen, (sql) => {
      requireVersion(sql, path, shape);
      if (!hasChecksums) requireStructure(sql, path);
      return read(sql);
    });
  } catch (error) {
    throw stateError(path, error);
  }
}

/** Reads the file itself, or a copy if opening the file would change it. */
function withPlainSql<Result>(
  path: string,
  isOpen: boolean,
  read: (sql: FileSql) => Result,
): Result {
  try {
    const sql = isOpen ? openCopy(path) : openPlainSql(path);
    try {
      return read(sql);
    } finally {
      sql.abandon();
    }
  } finally {
    if (isOpen) removeCopies(path, `${basename(path)}.copy-0`);
  }
}

/**
 * Opens a copy. Without disk space for a copy, reads the database in place, which not every system
 * supports.
 */
function openCopy(path: string): FileSql {
  const copyPath = `${path}.copy-0`;
  try {
    copyDatabase(path, copyPath);
    return openPlainSql(copyPath);
  } catch (error) {
    if (storageProblem(error) !== noSpace || existsSync(`${path}-journal`)) throw error;
    const log = new WriteAheadLog(`${path}-wal`);
    try {
      log.follow();
      return openSqlInPlace(path, log.mark.frames > 0);
    } catch {
      throw error;
    } finally {
      log.close();
    }
  }
}

/**
 * Copies a database with the files that SQLite needs to recover it. Sizes are limited, because a
 * damaged sparse file could be huge.
 */
export function copyDatabase(from: string, to: string): void {
  const log = new WriteAheadLog(`${from}-wal`);
  try {
    log.follow();
    const salvaged = countSalvageableBytes(from, log);
    copyStart(from, to, salvaged.database);
    copyStart(`${from}-journal`, `${to}-journal`, salvaged.journal);
    copyStart(`${from}-wal`, `${to}-wal`, log.bytes);
  } finally {
    log.close();
  }
}

/** Copies at most `bytesMax` bytes of a file, if it exists. */
function copyStart(from: string, to: string, bytesMax: number): void {
  if (!existsSync(from)) return;
  const [source, copy] = [openSync(plainFile(from), 'r'), openSync(to, 'w', 0o600)];
  try {
    const chunk = Buffer.allocUnsafe(COPIED_BYTES);
    for (let at = 0; at < bytesMax; ) {
      const length = readSync(source, chunk, 0, Math.min(chunk.length, bytesMax - at), at);
      if (length === 0) return;
      writeSync(copy, chunk, 0, length);
      at += length;
    }
  } finally {
    closeSync(source);
    closeSync(copy);
  }
}

/**
 * Opens a state file; creates it and its folder if missing.
 * @throws StateError when it cannot be opened, or has another version
 */
export function openStateFile(path: string, shape: StateShape): FileSql {
  try {
    const folder = dirname(path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    plainFile(path);
    removeCopies(path);
    const sql = openFileSql(path);
    try {
      if (isEmpty(sql)) createSchema(sql, shape, folder);
      else requireVersion(sql, path, shape);
      return sql;
    } catch (error) {
      sql.abandon();
      throw error;
    }
  } catch (error) {
    throw stateError(path, error);
  }
}

/** Removes copies of an earlier process; a process removes its own when it ends normally. */
function removeCopies(path: string, prefix = `${basename(path)}.copy-`): void {
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(prefix)) rmSync(join(dirname(path), name));
  }
}

function isEmpty(sql: FileSql): boolean {
  return sql.first('SELECT 1 FROM sqlite_master LIMIT 1') === undefined && versionOf(sql) === 0;
}

/** Returns the schema version of a database; 0 when it was never set. */
export function versionOf(sql: Sql): number {
  return Number(sql.first('PRAGMA user_version')?.user_version);
}

function createSchema(sql: FileSql, { schema, version }: StateShape, folder: string): void {
  sql.script(`BEGIN; ${schema} PRAGMA user_version = ${version}; COMMIT;`);
  syncPath(folder);
}

function requireVersion(sql: Sql, path: string, { version }: StateShape): void {
  const actual = versionOf(sql);
  if (actual === version) return;
  throw new StateError(
    'version',
    `${path} has version ${actual} of the tables, but this fleetbed needs version ${version}`,
  );
}

function requireStructure(sql: Sql, path: string): void {
  const findings = sql
    .all('PRAGMA quick_check(100)')
    .map((row) => String(row.quick_check))
    .filter((finding) => finding !== 'ok');
  if (findings.length === 0) return;
  const summary = findings.slice(0, FINDINGS_MAX).join('; ').replaceAll(/\s+/g, ' ');
  throw new StateError('damaged', `${path} is damaged (${summary})`);
}
