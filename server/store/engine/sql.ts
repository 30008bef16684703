/**
 * The SQL engine as the store sees it: a small synchronous interface with two implementations, in
 * memory (`sql-memory.ts`) and in a file (`sql-file.ts`). Queries belong in the methods of the store.
 */

import type { TableChanges } from './table-changes.ts';

/** What can be bound to a placeholder. */
export type SqlValue = string | number | Uint8Array | null;

/** A row as the engine gives it. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A copy of a whole database at one point in time; every store of the same engine can be restored to it. */
export interface SqlCopy {
  /** All rows; the query bounds them. */
  all(query: string, values?: readonly SqlValue[]): SqlRow[];
  isDiscarded(): boolean;
  /** Frees the copy; has no effect the second time. */
  discard(): void;
}

/** What is not brought back from a copy, and what is done in the round in which the rest is. */
export interface RestoreMoment {
  /** Tables that stay as they are. */
  readonly keptTables: ReadonlySet<string>;
  readonly before: () => void;
  /** In a transaction with what is kept and brought back. */
  readonly within: () => void;
  readonly after: () => void;
}

/** One open database. All but copies is synchronous; statements are prepared once and kept. */
export interface Sql {
  readonly changes: TableChanges;
  /** Runs a statement. @returns the number of changed rows */
  run(statement: string, values?: readonly SqlValue[]): number;
  /** The first row, if any. */
  first(query: string, values?: readonly SqlValue[]): SqlRow | undefined;
  /** All rows; the query bounds them. */
  all(query: string, values?: readonly SqlValue[]): SqlRow[];
  /** Runs `work` so that either everything it wrote stays or, when it throws, nothing. Nests. @throws TypeError for work that gives a promise */
  atomically<Result>(work: () => Result): Result;
  /** Runs `act` once the current transaction is committed, or at once without one; never after a rollback. */
  afterCommit(act: () => void): void;
  /** Runs `act` when the work under way is undone; what is in memory only is put right by it. */
  afterUndo(act: () => void): void;
  /** Copies everything in turns, in the state of one point in time between call and end. */
  copy(): Promise<SqlCopy>;
  /** Makes everything as in a copy. @throws TypeError for a copy of the other engine */
  restore(copy: SqlCopy, moment: RestoreMoment): Promise<void>;
  close(): void;
}

/** Inserts a row with its columns by their names. */
export function insertRow(sql: Pick<Sql, 'run'>, table: string, row: SqlRow): void {
  const columns = Object.keys(row);
  const places = columns.map(() => '?').join(', ');
  sql.run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`, Object.values(row));
}

/** Bounds the memory of statements that vary with a filter. */
const PREPARED_MAX = 500;

/** The statements of one connection by their text; the oldest is freed for a new one. */
export class PreparedStatements<Statement> {
  readonly #prepare: (text: string) => Statement;
  readonly #free: (statement: Statement) => void;
  readonly #known = new Map<string, Statement>();

  constructor(prepare: (text: string) => Statement, free: (statement: Statement) => void) {
    this.#prepare = prepare;
    this.#free = free;
  }

  get(text: string): Statement {
    const known = this.#known.get(text);
    if (known) return known;
    if (this.#known.size >= PREPARED_MAX) this.#forgetOldest();
    const statement = this.#prepare(text);
    this.#known.set(text, statement);
    return statement;
  }

  /** Forgets all statements, which the closed connection has freed. */
  clear(): void {
    this.#known.clear();
  }

  #forgetOldest(): void {
    for (const [text, statement] of this.#known) {
      this.#free(statement);
      this.#known.delete(text);
      return;
    }
  }
}
