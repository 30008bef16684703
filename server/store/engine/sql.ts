/**
 * The SQL interface of the store: small and synchronous, with an in-memory implementation
 * (`sql-memory.ts`) and one in a file (`sql-file.ts`). Queries belong in the methods of the stores.
 */
import type { TableChanges } from './table-changes.ts';

/** A value of a placeholder or a column. */
export type SqlValue = string | number | Uint8Array | null;

/** A row: values by column name. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/**
 * A copy of a whole database at one point in time. Every database of the same engine can be
 * restored from it.
 */
export interface SqlCopy {
  /** Returns all rows; the query must limit them. */
  all(query: string, values?: readonly SqlValue[]): SqlRow[];
  isDiscarded(): boolean;
  /** Frees the copy; further calls have no effect. */
  discard(): void;
}

/**
 * Tables that a restore leaves unchanged, and callbacks that run in the same iteration of the event
 * loop as the restore.
 */
export interface RestoreContext {
  /** Tables that keep their rows. */
  readonly keptTables: ReadonlySet<string>;
  readonly beforeRestore: () => void;
  /** Runs in the transaction that restores the rows. */
  readonly within: () => void;
  readonly afterRestore: () => void;
}

/**
 * An open database. All methods except `copy` and `restore` are synchronous. Prepared statements
 * are cached.
 */
export interface Sql {
  readonly changes: TableChanges;
  /**
   * Runs a statement.
   * @returns the number of changed rows
   */
  run(statement: string, values?: readonly SqlValue[]): number;
  /** Returns the first row; undefined if there is none. */
  first(query: string, values?: readonly SqlValue[]): SqlRow | undefined;
  /** Returns all rows; the query must limit them. */
  all(query: string, values?: readonly SqlValue[]): SqlRow[];
  /**
   * Runs `work` in a transaction; when `work` throws, everything it wrote is rolled back. A nested
   * call joins the outer transaction.
   * @throws TypeError when `work` returns a promise
   */
  atomically<Result>(work: () => Result): Result;
  /**
   * Runs `callback` once the current transaction is committed, or at once without one; never after a
   * rollback.
   */
  afterCommit(callback: () => void): void;
  /** Runs `callback` if the current transaction is rolled back, to correct state in memory. */
  afterRollback(callback: () => void): void;
  /**
   * Copies the database in turns with other work. The copy is the state at one point in time
   * between call and end.
   */
  copy(): Promise<SqlCopy>;
  /**
   * Restores the database from a copy.
   * @throws TypeError for a copy of the other engine
   */
  restore(copy: SqlCopy, context: RestoreContext): Promise<void>;
  close(): void;
}

/** Inserts a row; its keys are the column names. */
export function insertRow(sql: Pick<Sql, 'run'>, table: string, row: SqlRow): void {
  const columns = Object.keys(row);
  const parameters = columns.map(() => '?').join(', ');
  sql.run(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${parameters})`,
    Object.values(row),
  );
}

/** Maximum number of cached statements; filters create many different ones. */
const PREPARED_MAX = 500;

/** Cache of one connection's prepared statements by their text; the oldest is freed first. */
export class PreparedStatements<Statement> {
  readonly #prepare: (text: string) => Statement;
  readonly #free: (statement: Statement) => void;
  readonly #statements = new Map<string, Statement>();

  constructor(prepare: (text: string) => Statement, free: (statement: Statement) => void) {
    this.#prepare = prepare;
    this.#free = free;
  }

  get(text: string): Statement {
    const cachedStatement = this.#statements.get(text);
    if (cachedStatement) return cachedStatement;
    if (this.#statements.size >= PREPARED_MAX) this.#forgetOldest();
    const statement = this.#prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  /** Empties the cache; closing the connection frees the statements. */
  clear(): void {
    this.#statements.clear();
  }

  #forgetOldest(): void {
    for (const [text, statement] of this.#statements) {
      this.#free(statement);
      this.#statements.delete(text);
      return;
    }
  }
}
