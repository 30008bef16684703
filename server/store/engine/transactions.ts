/** Runs nested work on one connection as one transaction, with actions that wait for its end. */
import { TableChanges } from './table-changes.ts';

/** A connection, which may have one transaction open. */
export abstract class Transactional {
  readonly changes = new TableChanges();
  #isOpen = false;
  /** Whether the engine knows of it: it begins with the first write, as much work writes nothing. */
  #hasBegun = false;
  #waiting: (() => void)[] = [];
  #undoing: (() => void)[] = [];

  /** Runs a statement without parameters. */
  protected abstract execute(statement: string): void;

  /** False when the engine has rolled the transaction back itself, as when the disk is full. */
  protected abstract isInTransaction(): boolean;

  /**
   * Runs `work`; work within it joins it. An exception undoes everything and is passed on.
   * @throws TypeError for a promise
   */
  atomically<Result>(work: () => Result): Result {
    if (this.#isOpen) return work();
    const result = this.#commit(work);
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#undoing = [];
    for (const act of waiting) act();
    return result;
  }

  /** Throws where nothing can be kept; called once before the writes of a transaction. */
  protected requireWritable(): void {}

  /** Called before each statement that may write. */
  protected willWrite(statement: string): void {
    if (!this.#hasBegun) this.requireWritable();
    this.changes.note(statement);
    if (!this.#isOpen || this.#hasBegun) return;
    this.execute('BEGIN');
    this.#hasBegun = true;
  }

  /** Runs `act` after the commit; at once outside of a transaction. */
  afterCommit(act: () => void): void {
    if (this.#isOpen) this.#waiting.push(act);
    else act();
  }

  /** Runs `act` when the work under way is undone, after everything that was noted later. */
  afterUndo(act: () => void): void {
    if (this.#isOpen) this.#undoing.push(act);
  }

  #commit<Result>(work: () => Result): Result {
    this.#isOpen = true;
    try {
      const result = work();
      if (result instanceof Promise) refuseToWait(result);
      if (this.#hasBegun) this.execute('COMMIT');
      return result;
    } catch (error) {
      this.#waiting = [];
      if (this.#hasBegun && this.isInTransaction()) this.execute('ROLLBACK');
      this.#isOpen = false;
      this.#hasBegun = false;
      this.#undo();
      throw error;
    } finally {
      this.#isOpen = false;
      this.#hasBegun = false;
    }
  }

  #undo(): void {
    this.changes.noteAll();
    const undoing = this.#undoing.toReversed();
    this.#undoing = [];
    for (const act of undoing) act();
  }
}

/** A promise would write later: in no transaction, or in a different one. */
function refuseToWait(promise: Promise<unknown>): never {
  promise.catch(() => undefined);
  throw new TypeError('a transaction cannot wait: its work returned a promise');
}
