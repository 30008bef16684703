/** The in-memory engine: sql.js. Its data is lost when the process ends. */
import initSqlJs, { type Database, type SqlJsStatic, type Statement } from 'sql.js';
import { yieldInTurns } from '../../../fixtures/base/clock.ts';
import {
  insertRow,
  PreparedStatements,
  type RestoreContext,
  type Sql,
  type SqlCopy,
  type SqlRow,
  type SqlValue,
} from './sql.ts';
import { Transactional } from './transactions.ts';

/** Members of sql.js that its types lack. */
interface SqlJsModule extends SqlJsStatic {
  cwrap(name: string, result: 'number', takes: readonly string[]): (...given: unknown[]) => number;
}

/** Empty databases by schema: copying one takes less time than running the schema. */
const emptyDatabases = new Map<string, Database>();

/** Opens an empty in-memory database. */
export async function openMemorySql(schema: string): Promise<Sql> {
  const engine = (await initSqlJs()) as SqlJsModule;
  let from = emptyDatabases.get(schema);
  if (!from) {
    from = openDatabase(engine);
    from.run(schema);
    emptyDatabases.set(schema, from);
  }
  const to = openDatabase(engine);
  await copyPages(engine, { from, to, isOver: () => false, isWritten: () => true });
  return new MemorySql(engine, to);
}

/**
 * Creates a database named `:memory:`. By default sql.js puts each database into a file of its
 * virtual file system, which copies the whole file whenever it has grown by an eighth; under this
 * name SQLite manages the pages itself.
 */
function openDatabase({ Database: FileDatabase }: SqlJsModule): Database {
  class MemoryDatabase extends FileDatabase {
    get filename(): string {
      return ':memory:';
    }

    set filename(_: string) {}
  }
  const database = new MemoryDatabase();
  // Otherwise SQLite sorts in files of the virtual file system.
  database.run('PRAGMA temp_store = MEMORY');
  return database;
}

/**
 * Closes a database, and ignores the error that sql.js throws because it finds no file to remove.
 */
function closeDatabase(database: Database): void {
  try {
    database.close();
  } catch (error) {
    const isNoFile = typeof error === 'object' && error !== null && 'name' in error;
    if (!isNoFile || error.name !== 'ErrnoError') throw error;
  }
}

/** Number of pages that are copied before the event loop may run. */
const PAGES = 100;
const ALL_PAGES = -1;
const OK = 0;
const DONE = 101;

interface DatabaseCopy {
  readonly from: Database;
  readonly to: Database;
  /** Returns true once the copy is no longer needed. */
  readonly isOver: () => boolean;
  /**
   * Returns true after a write: SQLite restarts the copy then, so the rest is copied in one step.
   */
  readonly isWritten: () => boolean;
}

/** Copies a database into an empty one, in turns with other work. */
async function copyPages(engine: SqlJsModule, copying: DatabaseCopy): Promise<void> {
  const { from, to, isOver, isWritten } = copying;
  const takesNames = ['number', 'string', 'number', 'string'];
  const begin = engine.cwrap('sqlite3_backup_init', 'number', takesNames);
  const step = engine.cwrap('sqlite3_backup_step', 'number', ['number', 'number']);
  const finish = engine.cwrap('sqlite3_backup_finish', 'number', ['number']);
  const backup = begin(pointerTo(to), 'main', pointerTo(from), 'main');
  if (backup === 0) throw new Error('a copy of the state cannot be started');
  const steps = function* () {
    for (let code = OK; code === OK && !isOver(); ) {
      code = step(backup, isWritten() ? ALL_PAGES : PAGES);
      yield code;
    }
  };
  let last = OK;
  try {
    for await (const code of yieldInTurns(steps())) last = code;
  } finally {
    finish(backup);
  }
  if (last === DONE) return;
  const why = isOver() ? 'it was closed meanwhile' : `SQLite says ${last}`;
  throw new Error(`the state cannot be copied: ${why}`);
}

function pointerTo(database: Database): unknown {
  return 'db' in database ? database.db : undefined;
}

/** A copy in a separate in-memory database. */
class MemoryCopy implements SqlCopy {
  readonly database: Database;
  #isDiscarded = false;

  constructor(database: Database) {
    this.database = database;
  }

  all(query: string, values: readonly SqlValue[] = []): SqlRow[] {
    const statement = this.database.prepare(query);
    try {
      return rowsOf(statement, values, statement.getColumnNames());
    } finally {
      statement.free();
    }
  }

  isDiscarded(): boolean {
    return this.#isDiscarded;
  }

  discard(): void {
    if (!this.#isDiscarded) closeDatabase(this.database);
    this.#isDiscarded = true;
  }
}

/**
 * Replaces `?`. The unary plus hides the bound value from the query planner: SQLite would otherwise
 * plan a query with a join again for each binding, which costs several times the query itself.
 */
const steady = '+?';

const byteOrderMark = '\ufeff';

class MemorySql extends Transactional implements Sql {
  readonly #engine: SqlJsModule;
  readonly #prepared: PreparedStatements<Statement>;
  readonly #columns = new WeakMap<Statement, readonly string[]>();
  #database: Database;
  #isClosed = false;
  #writes = 0;

  constructor(engine: SqlJsModule, database: Database) {
    super();
    this.#engine = engine;
    this.#database = database;
    this.#prepared = new PreparedStatements(
      (statement) => this.#database.prepare(statement.replaceAll('?', steady)),
      (statement) => statement.free(),
    );
  }

  run(statement: string, values: readonly SqlValue[] = []): number {
    this.willWrite(statement);
    this.#writes += 1;
    this.execute(statement, values);
    return this.#database.getRowsModified();
  }

  protected execute(statement: string, values: readonly SqlValue[] = []): void {
    const preparedStatement = this.#prepared.get(statement);
    try {
      if (values.length > 0) preparedStatement.bind(values.map(bindValue));
      preparedStatement.step();
    } finally {
      preparedStatement.reset();
    }
  }

  first(query: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    const statement = this.#prepared.get(query);
    try {
      statement.bind(values.map(bindValue));
      return statement.step() ? rowOf(statement, this.#columnsOf(statement)) : undefined;
    } finally {
      statement.reset();
    }
  }

  all(query: string, values: readonly SqlValue[] = []): SqlRow[] {
    const statement = this.#prepared.get(query);
    return rowsOf(statement, values, this.#columnsOf(statement));
  }

  #columnsOf(statement: Statement): readonly string[] {
    let names = this.#columns.get(statement);
    if (!names) {
      names = statement.getColumnNames();
      this.#columns.set(statement, names);
    }
    return names;
  }

  protected isInTransaction(): boolean {
    return true;
  }

  async copy(): Promise<SqlCopy> {
    const [from, writes] = [this.#database, this.#writes];
    const isOver = () => this.#isClosed || this.#database !== from;
    const isWritten = () => this.#writes !== writes;
    return new MemoryCopy(await this.#copyOf({ from, isOver, isWritten }));
  }

  /** Fills a new database from the copy, and replaces the current one by it. */
  async restore(copy: SqlCopy, context: RestoreContext): Promise<void> {
    if (!(copy instanceof MemoryCopy)) throw new TypeError('a copy of another engine');
    const isOver = () => this.#isClosed || copy.isDiscarded();
    const from = copy.database;
    const restored = await this.#copyOf({ from, isOver, isWritten: () => false });
    context.beforeRestore();
    const keptRows = [...context.keptTables].map((table) => {
      return { table, rows: this.all(`SELECT * FROM ${table}`) };
    });
    this.#prepared.clear();
    closeDatabase(this.#database);
    this.#database = restored;
    this.changes.noteAll();
    this.atomically(() => {
      for (const { table, rows } of keptRows) this.#replace(table, rows);
      context.within();
    });
    context.afterRestore();
  }

  #replace(table: string, rows: readonly SqlRow[]): void {
    this.run(`DELETE FROM ${table}`);
    for (const row of rows) insertRow(this, table, row);
  }

  async #copyOf(copying: Omit<DatabaseCopy, 'to'>): Promise<Database> {
    const to = openDatabase(this.#engine);
    try {
      await copyPages(this.#engine, { ...copying, to });
      return to;
    } catch (error) {
      closeDatabase(to);
      throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#prepared.clear();
    closeDatabase(this.#database);
  }
}

function rowsOf(
  prepared: Statement,
  values: readonly SqlValue[],
  names: readonly string[],
): SqlRow[] {
  const rows: SqlRow[] = [];
  try {
    prepared.bind(values.map(bindValue));
    while (prepared.step()) rows.push(rowOf(prepared, names));
  } finally {
    prepared.reset();
  }
  return rows;
}

/** Faster than sql.js's own row objects, which look up each column name for every row. */
function rowOf(prepared: Statement, names: readonly string[]): SqlRow {
  const values = prepared.get();
  const row: Record<string, SqlValue> = {};
  for (let at = 0; at < names.length; at++) row[names[at] ?? ''] = values[at] ?? null;
  return row;
}

/** sql.js removes a byte order mark from the beginning of every text it reads, so it is doubled. */
function bindValue(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.startsWith(byteOrderMark)
    ? byteOrderMark + value
    : value;
}
