/** Nested work on one connection as one transaction, and actions that wait for its end. */

/** What the transactions ask of a connection. */
interface Connection {
  run(statement: 'BEGIN' | 'COMMIT' | 'ROLLBACK'): void;
  /** False when the engine has rolled the transaction back itself, as when the disk is full. */
  isInTransaction(): boolean;
}

/** The one transaction that a connection may have open. */
export class Transactions {
  readonly #connection: Connection;
  #isOpen = false;
  #waiting: (() => void)[] = [];
  #undoing: (() => void)[] = [];

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Runs `work`; work within it joins it. An exception undoes everything and is passed on. @throws TypeError for a promise */
  atomically<Result>(work: () => Result): Result {
    if (this.#isOpen) return work();
    const result = this.#commit(work);
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#undoing = [];
    for (const act of waiting) act();
    return result;
  }

  afterCommit(act: () => void): void {
    if (this.#isOpen) this.#waiting.push(act);
    else act();
  }

  /** Runs `act` when the work under way is undone, after everything that was noted later. */
  afterUndo(act: () => void): void {
    if (this.#isOpen) this.#undoing.push(act);
  }

  #commit<Result>(work: () => Result): Result {
    this.#connection.run('BEGIN');
    this.#isOpen = true;
    try {
      const result = work();
      if (result instanceof Promise) refuseToWait(result);
      this.#connection.run('COMMIT');
      return result;
    } catch (fault) {
      this.#waiting = [];
      if (this.#connection.isInTransaction()) this.#connection.run('ROLLBACK');
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
