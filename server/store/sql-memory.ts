/** The engine in memory: sql.js. What it holds goes with the process. */
import initSqlJs, { type Database, type SqlJsStatic, type Statement } from 'sql.js';
import { PreparedStatements, type Sql, type SqlCopy, type SqlRow, type SqlValue } from './sql.ts';
import { Transactional } from './transactions.ts';

/**
 * The engine takes its memory for a disk: without these it writes a journal file for each
 * transaction, and reads every page anew after it.
 */
const settings = [
  'PRAGMA locking_mode = EXCLUSIVE',
  'PRAGMA journal_mode = MEMORY',
  'PRAGMA synchronous = OFF',
  'PRAGMA temp_store = MEMORY',
  'PRAGMA cache_size = -65536',
].join(';');

/** Opens an empty database in memory. */
export async function openMemorySql(schema: string): Promise<Sql> {
  const engine = await initSqlJs();
  const database = new engine.Database();
  database.run(settings);
  database.run(schema);
  return new MemorySql(engine, database);
}

/**
 * A placeholder as the engine may not take into account when it plans a query: where it can, it plans
 * a query with a join anew each time that something is bound, for several times what the query costs.
 */
const steady = '+?';

const byteOrderMark = '\ufeff';

class MemorySql extends Transactional implements Sql {
  readonly #engine: SqlJsStatic;
  readonly #database: Database;
  readonly #prepared: PreparedStatements<Statement>;
  readonly #columns = new WeakMap<Statement, readonly string[]>();

  constructor(engine: SqlJsStatic, database: Database) {
    super();
    this.#engine = engine;
    this.#database = database;
    this.#prepared = new PreparedStatements(
      (text) => database.prepare(text.replaceAll('?', steady)),
      (statement) => statement.free(),
    );
  }

  run(statement: string, values: readonly SqlValue[] = []): number {
    this.willWrite(statement);
    this.execute(statement, values);
    return this.#database.getRowsModified();
  }

  protected execute(statement: string, values: readonly SqlValue[] = []): void {
    const prepared = this.#prepared.get(statement);
    try {
      if (values.length > 0) prepared.bind(values.map(bound));
      prepared.step();
    } finally {
      prepared.reset();
    }
  }

  first(query: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    const prepared = this.#prepared.get(query);
    try {
      prepared.bind(values.map(bound));
      return prepared.step() ? this.#row(prepared) : undefined;
    } finally {
      prepared.reset();
    }
  }

  all(query: string, values: readonly SqlValue[] = []): SqlRow[] {
    const prepared = this.#prepared.get(query);
    const rows: SqlRow[] = [];
    try {
      prepared.bind(values.map(bound));
      while (prepared.step()) rows.push(this.#row(prepared));
    } finally {
      prepared.reset();
    }
    return rows;
  }

  /** The engine's own rows as objects ask it for the name of each column each time. */
  #row(prepared: Statement): SqlRow {
    let names = this.#columns.get(prepared);
    if (!names) {
      names = prepared.getColumnNames();
      this.#columns.set(prepared, names);
    }
    const values = prepared.get();
    const row: Record<string, SqlValue> = {};
    for (let at = 0; at < names.length; at++) row[names[at] ?? ''] = values[at] ?? null;
    return row;
  }

  protected isInTransaction(): boolean {
    return true;
  }

  copy(): SqlCopy {
    // An export frees every statement of the connection.
    this.#prepared.clear();
    const copy = new this.#engine.Database(this.#database.export());
    // It also opens the connection anew.
    this.#database.run(settings);
    const row = copy.exec('SELECT file FROM pragma_database_list')[0]?.values[0];
    return { location: String(row?.[0]), discard: () => copy.close() };
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }
}

/** The engine's reader takes a byte order mark off the front of every text; a second one stays. */
function bound(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.startsWith(byteOrderMark)
    ? byteOrderMark + value
    : value;
}
