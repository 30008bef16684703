/** The engine in memory: sql.js. What it holds goes with the process. */
import initSqlJs, { type Database, type SqlJsStatic, type Statement } from 'sql.js';
import { PreparedStatements, type Sql, type SqlCopy, type SqlRow, type SqlValue } from './sql.ts';
import { Transactional } from './transactions.ts';

/** Opens an empty database in memory. */
export async function openMemorySql(schema: string): Promise<Sql> {
  const engine = await initSqlJs();
  const database = new engine.Database();
  database.run(schema);
  return new MemorySql(engine, database);
}

const byteOrderMark = '\ufeff';

class MemorySql extends Transactional implements Sql {
  readonly #engine: SqlJsStatic;
  readonly #database: Database;
  readonly #prepared: PreparedStatements<Statement>;

  constructor(engine: SqlJsStatic, database: Database) {
    super();
    this.#engine = engine;
    this.#database = database;
    this.#prepared = new PreparedStatements(
      (text) => database.prepare(text),
      (statement) => statement.free(),
    );
  }

  run(statement: string, values: readonly SqlValue[] = []): number {
    const prepared = this.#prepared.get(statement);
    try {
      prepared.bind(values.map(bound));
      prepared.step();
    } finally {
      prepared.reset();
    }
    return this.#database.getRowsModified();
  }

  first(query: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    const prepared = this.#prepared.get(query);
    try {
      prepared.bind(values.map(bound));
      return prepared.step() ? (prepared.getAsObject() as SqlRow) : undefined;
    } finally {
      prepared.reset();
    }
  }

  all(query: string, values: readonly SqlValue[] = []): SqlRow[] {
    const prepared = this.#prepared.get(query);
    const rows: SqlRow[] = [];
    try {
      prepared.bind(values.map(bound));
      while (prepared.step()) rows.push(prepared.getAsObject() as SqlRow);
    } finally {
      prepared.reset();
    }
    return rows;
  }

  protected isInTransaction(): boolean {
    return true;
  }

  copy(): SqlCopy {
    // An export frees every statement of the connection.
    this.#prepared.clear();
    const copy = new this.#engine.Database(this.#database.export());
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
