/**
 * The embedded SQL engine behind a small synchronous interface, so that a durable engine can stand
 * in for it. Not a place for queries: those are the store's verbs.
 */
import initSqlJs, { type Statement } from 'sql.js';

/** What can be bound to a placeholder. */
export type SqlValue = string | number | Uint8Array | null;

/** A row as the engine gives it. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** One open database. Every method is synchronous; statements are prepared once and kept. */
export interface Sql {
  /** Runs a statement and tells how many rows it changed. */
  run(statement: string, values?: readonly SqlValue[]): number;
  /** The first row, if any. */
  first(query: string, values?: readonly SqlValue[]): SqlRow | undefined;
  /** All rows; the query bounds them. */
  all(query: string, values?: readonly SqlValue[]): SqlRow[];
  /** Runs `work` so that either everything it wrote stays or, when it throws, nothing. Nests. */
  atomically<Result>(work: () => Result): Result;
  close(): void;
}

/** Statements whose text varies with a filter must not fill the memory. */
const PREPARED_MAX = 500;

/** Opens an empty database in memory. */
export async function openSql(schema: string): Promise<Sql> {
  const engine = await initSqlJs();
  const database = new engine.Database();
  database.run(schema);
  return new MemorySql(database);
}

class MemorySql implements Sql {
  readonly #database: initSqlJs.Database;
  readonly #prepared = new Map<string, Statement>();
  #depth = 0;

  constructor(database: initSqlJs.Database) {
    this.#database = database;
  }

  run(statement: string, values: readonly SqlValue[] = []): number {
    const prepared = this.#prepare(statement);
    try {
      prepared.bind([...values]);
      prepared.step();
    } finally {
      prepared.reset();
    }
    return this.#database.getRowsModified();
  }

  first(query: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    const prepared = this.#prepare(query);
    try {
      prepared.bind([...values]);
      return prepared.step() ? (prepared.getAsObject() as SqlRow) : undefined;
    } finally {
      prepared.reset();
    }
  }

  all(query: string, values: readonly SqlValue[] = []): SqlRow[] {
    const prepared = this.#prepare(query);
    const rows: SqlRow[] = [];
    try {
      prepared.bind([...values]);
      while (prepared.step()) rows.push(prepared.getAsObject() as SqlRow);
    } finally {
      prepared.reset();
    }
    return rows;
  }

  atomically<Result>(work: () => Result): Result {
    if (this.#depth > 0) return work();
    this.run('BEGIN');
    this.#depth += 1;
    try {
      const result = work();
      this.run('COMMIT');
      return result;
    } catch (fault) {
      this.run('ROLLBACK');
      throw fault;
    } finally {
      this.#depth -= 1;
    }
  }

  close(): void {
    this.#database.close();
  }

  #prepare(text: string): Statement {
    const known = this.#prepared.get(text);
    if (known) return known;
    if (this.#prepared.size >= PREPARED_MAX) this.#forgetOldest();
    const statement = this.#database.prepare(text);
    this.#prepared.set(text, statement);
    return statement;
  }

  #forgetOldest(): void {
    for (const [text, statement] of this.#prepared) {
      statement.free();
      this.#prepared.delete(text);
      return;
    }
  }
}
