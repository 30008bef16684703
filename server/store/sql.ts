/**
 * What the store knows of an SQL engine: a small synchronous interface, behind which stand one in
 * memory (`sql-memory.ts`) and one that keeps everything in a file (`sql-file.ts`). Not a place for
 * queries: those are the store's verbs.
 */

/** What can be bound to a placeholder. */
export type SqlValue = string | number | Uint8Array | null;

/** A row as the engine gives it. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A copy of a whole database as it stood at one moment. */
export interface SqlCopy {
  /** What ATTACH opens; of any database of the same engine in this process. */
  readonly location: string;
  /** Gives back what the copy takes up; again does nothing. */
  discard(): void;
}

/** One open database. Every method is synchronous; statements are prepared once and kept. */
export interface Sql {
  /** Runs a statement and tells how many rows it changed. */
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

/** Statements whose text varies with a filter must not fill the memory. */
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

  /** Forgets all; whoever closes the connection has freed them. */
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
