/**
 * The SQL engine as the store sees it: a small synchronous interface with two implementations, in
 * memory (`sql-memory.ts`) and in a file (`sql-file.ts`). Queries belong in the methods of the store.
 */

import type { TableChanges } from './table-changes.ts';

/** What can be bound to a placeholder. */
export type SqlValue = string | number | Uint8Array | null;

/** A row as the engine gives it. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A copy of a whole database at one moment. */
export interface SqlCopy {
  /** What ATTACH opens; of any database of the same engine in this process. */
  readonly location: string;
  /** Frees the copy; has no effect the second time. */
  discard(): void;
}

/** One open database. Every method is synchronous; statements are prepared once and kept. */
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
  /** Runs `act` once the work under way is committed, or at once; never when it is undone. */
  afterCommit(act: () => void): void;
  /** Runs `act` when the work under way is undone; what is in memory only is put right by it. */
  afterUndo(act: () => void): void;
  /** Copies everything; not within a transaction. */
  copy(): SqlCopy;
  close(): void;
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
