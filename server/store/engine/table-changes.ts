/** Caches results of queries until their tables change. */

/** Tables of which answers are kept, and how a statement names each. */
const watchedTables = {
  artifacts: /\bartifacts\b/,
  deployments: /\bdeployments\b/,
  deployment_devices: /\bdeployment_devices\b/,
};
export type WatchedTable = keyof typeof watchedTables;

const tableNames = Object.keys(watchedTables) as readonly WatchedTable[];

/** Statements of which it is known what they name; a few have as many forms as there are lists. */
const STATEMENTS_MAX = 1000;

/** Counts how often each table may have changed: by a statement that names it, or by undoing one. */
export class TableChanges {
  readonly #counts = { artifacts: 0, deployments: 0, deployment_devices: 0 };
  readonly #namedIn = new Map<string, readonly WatchedTable[]>();

  /** A number that goes up whenever one of the tables may have changed. */
  of(tables: readonly WatchedTable[]): number {
    return tables.reduce((sum, table) => sum + this.#counts[table], 0);
  }

  /** Notes a statement that writes. */
  note(statement: string): void {
    let named = this.#namedIn.get(statement);
    if (!named) {
      named = tableNames.filter((table) => watchedTables[table].test(statement));
      if (this.#namedIn.size >= STATEMENTS_MAX) this.#namedIn.clear();
      this.#namedIn.set(statement, named);
    }
    for (const table of named) this.#counts[table]++;
  }

  noteAll(): void {
    for (const table of tableNames) this.#counts[table]++;
  }
}

/** Keeps what was read of some tables by a key, until one of them may have changed. */
export class KeptReads<Value, Key = string> {
  readonly #changes: TableChanges;
  readonly #tables: readonly WatchedTable[];
  readonly #max: number;
  readonly #values = new Map<Key, Value>();
  #asOf = -1;

  constructor(changes: TableChanges, tables: readonly WatchedTable[], max: number) {
    this.#changes = changes;
    this.#tables = tables;
    this.#max = max;
  }

  /** The kept value, or what `read` gives. */
  get(key: Key, read: () => Value): Value {
    const kept = this.peek(key);
    if (kept !== undefined) return kept;
    const value = read();
    if (this.#values.size >= this.#max) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }

  /** The kept value, if any. */
  peek(key: Key): Value | undefined {
    const now = this.#changes.of(this.#tables);
    if (now !== this.#asOf) {
      this.#values.clear();
      this.#asOf = now;
    }
    return this.#values.get(key);
  }

  /**
   * Runs a write that changes nothing but what is kept by this key.
   * @param after gives what would be read then; nothing where it has to be read
   */
  writeOne(key: Key, write: () => void, after?: (kept: Value) => Value | undefined): void {
    const isCurrent = this.#asOf === this.#changes.of(this.#tables);
    write();
    const kept = isCurrent ? this.#values.get(key) : undefined;
    const next = kept !== undefined ? after?.(kept) : undefined;
    if (next === undefined) this.#values.delete(key);
    else this.#values.set(key, next);
    if (isCurrent) this.#asOf = this.#changes.of(this.#tables);
  }
}
