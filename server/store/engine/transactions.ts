/** Runs nested work on one connection as one transaction, with callbacks for its end. */
import { TableChanges } from './table-changes.ts';

/** A connection with at most one open transaction. */
export abstract class Transactional {
  readonly changes = new TableChanges();
  #isOpen = false;
  /**
   * True once BEGIN was executed: only the first write begins the transaction, because much work
   * writes nothing.
   */
  #hasBegun = false;
  #commitCallbacks: (() => void)[] = [];
  #rollbackCallbacks: (() => void)[] = [];

  /** Runs a statement without parameters. */
  protected abstract execute(statement: string): void;

  /**
   * Returns false when the engine has rolled the transaction back by itself, for example on a full
   * disk.
   */
  protected abstract isInTransaction(): boolean;

  /**
   * Runs `work` in a transaction; nested calls join it. An exception rolls everything back and is
   * rethrown.
   * @throws TypeError when `work` returns a promise
   */
  atomically<Result>(work: () => Result): Result {
    if (this.#isOpen) return work();
    const result = this.#commit(work);
    const waiting = this.#commitCallbacks;
    this.#commitCallbacks = [];
    this.#rollbackCallbacks = [];
    for (const callback of waiting) callback();
    return result;
  }

  /** Throws when writes would be lost; called before the first write of a transaction. */
  protected requireWritable(): void {}

  /** Must be called before each statement that may write. */
  protected willWrite(statement: string): void {
    if (!this.#hasBegun) this.requireWritable();
    this.changes.note(statement);
    if (!this.#isOpen || this.#hasBegun) return;
    this.execute('BEGIN');
    this.#hasBegun = true;
  }

  /** Runs `callback` after the commit, or at once outside a transaction. */
  afterCommit(callback: () => void): void {
    if (this.#isOpen) this.#commitCallbacks.push(callback);
    else callback();
  }

  /** Runs `callback` if the current transaction is rolled back; the latest registered runs first. */
  afterRollback(callback: () => void): void {
    if (this.#isOpen) this.#rollbackCallbacks.push(callback);
  }

  #commit<Result>(work: () => Result): Result {
    this.#isOpen = true;
    try {
      const result = work();
      if (result instanceof Promise) refusePromise(result);
      if (this.#hasBegun) this.execute('COMMIT');
      return result;
    } catch (error) {
      this.#commitCallbacks = [];
      if (this.#hasBegun && this.isInTransaction()) this.execute('ROLLBACK');
      this.#isOpen = false;
      this.#hasBegun = false;
      this.#rollBack();
      throw error;
    } finally {
      this.#isOpen = false;
      this.#hasBegun = false;
    }
  }

  #rollBack(): void {
    this.changes.noteAll();
    const rollbackCallbacks = this.#rollbackCallbacks.toReversed();
    this.#rollbackCallbacks = [];
    for (const callback of rollbackCallbacks) callback();
  }
}

/**
 * Work that returns a promise would write later: outside the transaction, or within another one.
 */
function refusePromise(promise: Promise<unknown>): never {
  promise.catch(() => undefined);
  throw new TypeError('a transaction cannot wait: its work returned a promise');
}
