/** Nested work on one connection as one transaction, and actions that wait for its end. */

/** A connection, which may have one transaction open. */
export abstract class Transactional {
  #isOpen = false;
  #waiting: (() => void)[] = [];
  #undoing: (() => void)[] = [];

  abstract run(statement: string): number;

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
    this.run('BEGIN');
    this.#isOpen = true;
    try {
      const result = work();
      if (result instanceof Promise) refuseToWait(result);
      this.run('COMMIT');
      return result;
    } catch (fault) {
      this.#waiting = [];
      if (this.isInTransaction()) this.run('ROLLBACK');
      this.#isOpen = false;
      this.#undo();
      throw fault;
    } finally {
      this.#isOpen = false;
    }
  }

  #undo(): void {
    const undoing = this.#undoing.toReversed();
    this.#undoing = [];
    for (const act of undoing) act();
  }
}

/** A promise would write later: in no transaction, or in a different one. */
function refuseToWait(promise: Promise<unknown>): never {
  promise.catch(() => undefined);
  throw new TypeError('a transaction cannot wait: its work gave a promise');
}
