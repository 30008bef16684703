/**
 * Caches query results until their tables change. A change is noticed by the text of the statement
 * that makes it, so no trigger and no foreign key may write to a watched table; a test of the
 * schema holds this.
 */

/** Tables with cached queries, and a pattern that finds each in a statement. */
export const watchedTables = {
  artifacts: /\bartifacts\b/,
  deployments: /\bdeployments\b/,
  device_deployments: /\bdevice_deployments\b/,
};
export type WatchedTable = keyof typeof watchedTables;

const tableNames = Object.keys(watchedTables) as readonly WatchedTable[];

/** Maximum number of cached statements; those with lists of placeholders have many forms. */
const STATEMENTS_MAX = 1000;

/** Counts possible changes of each table: statements that name it, and rollbacks. */
export class TableChanges {
  readonly #counts = { artifacts: 0, deployments: 0, device_deployments: 0 };
  readonly #namedIn = new Map<string, readonly WatchedTable[]>();

  /** Returns a number that increases whenever one of the tables may have changed. */
  countOf(tables: readonly WatchedTable[]): number {
    return tables.reduce((sum, table) => sum + this.#counts[table], 0);
  }

  /** Records a statement that writes. */
  note(statement: string): void {
    let tables = this.#namedIn.get(statement);
    if (!tables) {
      tables = tableNames.filter((table) => watchedTables[table].test(statement));
      if (this.#namedIn.size >= STATEMENTS_MAX) this.#namedIn.clear();
      this.#namedIn.set(statement, tables);
    }
    for (const table of tables) this.#counts[table]++;
  }

  noteAll(): void {
    for (const table of tableNames) this.#counts[table]++;
  }
}

/** Caches values that were read from some tables, until one of these tables may have changed. */
export class ReadCache<Value, Key = string> {
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

  /** Returns the cached value, or reads and caches it. */
  get(key: Key, read: () => Value): Value {
    const cachedValue = this.peek(key);
    if (cachedValue !== undefined) return cachedValue;
    const value = read();
    if (this.#values.size >= this.#max) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }

  /** Returns the cached value; undefined if there is none. */
  peek(key: Key): Value | undefined {
    const changeCount = this.#changes.countOf(this.#tables);
    if (changeCount !== this.#asOf) {
      this.#values.clear();
      this.#asOf = changeCount;
    }
    return this.#values.get(key);
  }

  /**
   * Runs a write that affects only the value cached under this key.
   * @param valueAfter returns the value after the write; undefined if it must be read again
   */
  writeOne(key: Key, write: () => void, valueAfter?: (kept: Value) => Value | undefined): void {
    const isCurrent = this.#asOf === this.#changes.countOf(this.#tables);
    write();
    const cachedValue = isCurrent ? this.#values.get(key) : undefined;
    const next = cachedValue !== undefined ? valueAfter?.(cachedValue) : undefined;
    if (next === undefined) this.#values.delete(key);
    else this.#values.set(key, next);
    if (isCurrent) this.#asOf = this.#changes.countOf(this.#tables);
  }
}
