/**
 * A database in a single file: libsql, in WAL mode with full synchronisation, so that committed
 * data survives a crash of the process or the machine. The file is locked while it is open; the
 * operating system releases the lock when the process ends for any reason.
 *
 * SQLite truncates texts at a NUL when reading, so NUL is stored as SUB 0, and SUB as SUB SUB.
 */
import { closeSync, constants, existsSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import Database from 'libsql';
import { ensureSums } from './database-check.ts';
import { forgetSums, PageSums } from './page-sums.ts';
import { restoreTables } from './restored-tables.ts';
import {
  PreparedStatements,
  type RestoreContext,
  type Sql,
  type SqlCopy,
  type SqlRow,
  type SqlValue,
} from './sql.ts';
import { FilesRemoved, storageProblem } from './storage-error.ts';
import { Transactional } from './transactions.ts';

interface PreparedStatement {
  readonly statement: Database.Statement;
  readonly columns: readonly string[];
}

const nul = '\0';
const sub = '\x1a';
const BUSY_TIMEOUT_MS = 200;
/** Offset of the format versions in the header, and their value for a database without a log. */
const FORMATS_AT = 18;
const ROLLBACK_FORMAT = 1;
/** Number of frames in the log that triggers a checkpoint. */
const CHECKPOINT_FRAMES = 1000;
const settings = [
  // Exclusive mode must precede WAL: then the log's index is in memory, and no other process can
  // open the file.
  'PRAGMA locking_mode = EXCLUSIVE',
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  // Checkpoints run explicitly, because the checksums must be updated first.
  'PRAGMA wal_autocheckpoint = 0',
];

/**
 * Opens a database file; creates it if missing, readable by this user only.
 * @throws SQLite's error: SQLITE_BUSY when another process has the file open, SQLITE_NOTADB,
 * SQLITE_CORRUPT
 */
export function openFileSql(path: string): FileSql {
  if (!existsSync(path)) closeSync(openSync(path, 'wx', 0o600));
  const savedSums = ensureSums(path);
  const sql = new FileSql(path);
  try {
    sql.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    for (const pragma of settings) sql.run(pragma);
    // The transaction takes the lock.
    sql.atomically(() => sql.run('PRAGMA user_version'));
    sql.keepSums(new PageSums(path, savedSums));
    return sql;
  } catch (error) {
    sql.abandon();
    throw error;
  }
}

/** Opens a file as a plain database, without a log, and locked only during use. */
export function openPlainSql(path: string): FileSql {
  return new FileSql(path);
}

/**
 * Opens a database read-only together with its log. Changes neither file, and needs no disk space.
 * It takes no lock, and closing it releases the locks of this process, so the data folder must be
 * locked.
 * @param hasLog false when the log contains nothing: SQLite would remove the file
 */
export function openSqlInPlace(path: string, hasLog: boolean): FileSql {
  const how = hasLog ? 'vfs=unix-none' : 'immutable=1';
  const sql = new FileSql(`${pathToFileURL(path).href}?mode=ro&${how}`, { isReadOnly: true });
  // Exclusive mode keeps the log's index in memory.
  sql.run('PRAGMA locking_mode = EXCLUSIVE');
  return sql;
}

/** A database in a file. */
export class FileSql extends Transactional implements Sql {
  readonly #path: string;
  readonly #database: Database.Database;
  readonly #prepared: PreparedStatements<PreparedStatement>;
  #sums: PageSums | undefined;
  /** Inode number of the open file; its path may by now lead to another file. */
  #inode = 0;
  #checkpointAt = CHECKPOINT_FRAMES;
  #copies = 0;
  #isCopied = false;
  /** Settles when the last copy has ended. */
  #copied: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #isReadOnly: boolean;

  constructor(path: string, { isReadOnly = false } = {}) {
    super();
    this.#isReadOnly = isReadOnly;
    this.#path = path;
    const database = new Database(path);
    this.#database = database;
    this.#prepared = new PreparedStatements<PreparedStatement>(
      (text) => {
        const statement = database.prepare(text);
        const columns = statement.columns().map(({ name }) => name);
        return { statement: columns.length > 0 ? statement.raw() : statement, columns };
      },
      // Statements are freed by garbage collection.
      () => undefined,
    );
  }

  run(statement: string, values: readonly SqlValue[] = []): number {
    this.willWrite(statement);
    return this.execute(statement, values);
  }

  protected execute(statement: string, values: readonly SqlValue[] = []): number {
    const { statement: prepared, columns } = this.#prepared.get(statement);
    let changes = 0;
    if (columns.length === 0) changes = prepared.run(values.map(bindValue)).changes;
    else prepared.all(values.map(bindValue));
    this.#noteCommit();
    return changes;
  }

  /** Starts to update the checksum file. */
  keepSums(sums: PageSums): void {
    this.#sums = sums;
    this.#inode = inodeOf(this.#path);
  }

  /**
   * Throws FilesRemoved when the file was removed or replaced: writes to it would be lost with the
   * process.
   */
  protected override requireWritable(): void {
    if (this.#sums && inodeOf(this.#path) !== this.#inode) throw new FilesRemoved(this.#path);
  }

  first(query: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    return this.all(query, values)[0];
  }

  /** Reads all rows at once: a statement in progress would block commits and copies. */
  all(query: string, values: readonly SqlValue[] = []): SqlRow[] {
    const { statement, columns } = this.#prepared.get(query);
    return statement.all(values.map(bindValue)).map((row) => namedRow(columns, row as SqlValue[]));
  }

  /**
   * Yields row after row, for results that are too large for memory. Throws at the first row that
   * cannot be read.
   */
  *each(query: string): Generator<SqlRow> {
    const { statement, columns } = this.#prepared.get(query);
    for (const row of statement.iterate()) yield namedRow(columns, row as SqlValue[]);
  }

  /** Runs several statements without placeholders. */
  script(statements: string): void {
    this.#database.exec(statements);
    this.#noteCommit();
  }

  protected isInTransaction(): boolean {
    return this.#database.inTransaction;
  }

  /** Copies run one after the other, because each begins with a checkpoint. */
  copy(): Promise<SqlCopy> {
    const copied = this.#copied.then(() => this.#copyNow());
    this.#copied = copied.catch(() => undefined);
    return copied;
  }

  /** Copies the file. While it is copied, writes stay in the log. */
  async #copyNow(): Promise<SqlCopy> {
    this.#requireOpen();
    this.requireWritable();
    this.#copies += 1;
    const location = `${this.#path}.copy-${this.#copies}`;
    this.#moveLog();
    this.#isCopied = true;
    try {
      await copyFile(this.#path, location, constants.COPYFILE_FICLONE);
      this.#requireOpen();
      noteNoLog(location);
      return new FileCopy(location);
    } catch (error) {
      rmSync(location, { force: true });
      throw error;
    } finally {
      this.#isCopied = false;
    }
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new Error(`${this.#path} was closed before it was copied`);
  }

  /** Restores in one synchronous transaction, so that no request sees a partly restored state. */
  async restore(copy: SqlCopy, context: RestoreContext): Promise<void> {
    if (!(copy instanceof FileCopy)) throw new TypeError('a copy of another engine');
    context.beforeRestore();
    this.run('ATTACH ? AS snapshot', [copy.location]);
    try {
      this.atomically(() => {
        restoreTables(this, context.keptTables);
        context.within();
      });
    } finally {
      this.run('DETACH snapshot');
    }
    context.afterRestore();
  }

  /** Closes the database, and leaves a single file without a log. */
  close(): void {
    this.#isClosed = true;
    this.#prepared.clear();
    if (this.#isReadOnly) {
      this.#database.close();
      return;
    }
    try {
      this.#settle();
      // SQLite keeps the file open until its statements are garbage-collected, so the lock is
      // released first. This requires that the file is out of WAL mode.
      this.#database.exec('PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL');
      this.#database.exec('SELECT count(*) FROM sqlite_master');
    } catch (error) {
      // SQLite may remove the log later, unnoticed; checksums that require it would then be wrong.
      if (this.#sums) forgetSums(this.#path);
      // With a full disk, committed data stays in the log until the file is opened again.
      if (storageProblem(error) === undefined) throw error;
    }
    this.#database.close();
  }

  /**
   * Closes a file that may be damaged. Returns false when its lock remains until the process ends.
   */
  abandon(): boolean {
    try {
      this.close();
      return true;
    } catch {
      this.#database.close();
      return false;
    }
  }

  /**
   * Updates the checksums after a commit. A failed update is retried at the next commit; it does
   * not undo this one.
   */
  #noteCommit(): void {
    if (!this.#sums || this.#database.inTransaction) return;
    try {
      const frames = this.#sums.committed();
      if (frames < CHECKPOINT_FRAMES) this.#checkpointAt = CHECKPOINT_FRAMES;
      if (frames < this.#checkpointAt || this.#isCopied) return;
      this.#checkpointAt = frames + CHECKPOINT_FRAMES;
      this.#sums.fold();
      this.#checkpoint();
    } catch (error) {
      if (storageProblem(error) === undefined) throw error;
    }
  }

  /** Moves the log into the database, and truncates it. */
  #moveLog(): void {
    this.#sums?.fold();
    this.#checkpoint();
    this.#sums?.settle();
    this.#checkpoint('TRUNCATE');
  }

  #checkpoint(mode: 'PASSIVE' | 'TRUNCATE' = 'PASSIVE'): void {
    const [done] = this.#database.prepare(`PRAGMA wal_checkpoint(${mode})`).raw().all();
    const [, frames, moved] = done as number[];
    if (frames !== moved)
      throw new Error(`${this.#path} has a write-ahead log that cannot be recovered`);
  }

  #settle(): void {
    if (!this.#sums) return;
    this.requireWritable();
    this.#sums.fold();
    this.#checkpoint();
    this.#sums.settle();
    this.#sums.close();
  }
}

/** A copy in a separate database file. */
class FileCopy implements SqlCopy {
  readonly location: string;
  readonly #sql: FileSql;
  #isDiscarded = false;

  constructor(location: string) {
    this.location = location;
    this.#sql = openPlainSql(location);
  }

  all(query: string, values: readonly SqlValue[] = []): SqlRow[] {
    return this.#sql.all(query, values);
  }

  isDiscarded(): boolean {
    return this.#isDiscarded;
  }

  discard(): void {
    this.#isDiscarded = true;
    this.#sql.abandon();
    rmSync(this.location, { force: true });
  }
}

/** Marks a copied database as having no log. */
function noteNoLog(location: string): void {
  const descriptor = openSync(location, 'r+');
  try {
    writeSync(descriptor, Buffer.from([ROLLBACK_FORMAT, ROLLBACK_FORMAT]), 0, 2, FORMATS_AT);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the inode number of the file; 0 when it does not exist. */
function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
}

function namedRow(columns: readonly string[], row: readonly SqlValue[]): SqlRow {
  const namedValues: Record<string, SqlValue> = {};
  for (const [at, column] of columns.entries())
    namedValues[column] = unescapeValue(row[at] ?? null);
  return namedValues;
}

/** Binds whole numbers as bigint: the driver stores every other number as REAL. */
function bindValue(value: SqlValue): string | number | bigint | Uint8Array | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  return typeof value === 'string' ? escapeText(value) : value;
}

function escapeText(text: string): string {
  if (!text.includes(nul) && !text.includes(sub)) return text;
  return text.replaceAll(sub, sub + sub).replaceAll(nul, `${sub}0`);
}

function unescapeValue(value: SqlValue): SqlValue {
  if (typeof value !== 'string' || !value.includes(sub)) return value;
  // SUB SUB is split first, so that each remaining SUB 0 stands for a NUL.
  const parts = value.split(sub + sub);
  return parts.map((part) => part.replaceAll(`${sub}0`, nul)).join(sub);
}
