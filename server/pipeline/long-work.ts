/**
 * Runs work that takes many iterations of the event loop and occupies memory. At most `PLACES` tasks
 * run at a time, one per caller; the others wait, and callers take turns.
 */
import { CallerQueue } from '../../fixtures/base/caller-queue.ts';
import { type LongTaskCaller, resultInTurns } from '../../fixtures/base/clock.ts';
import { tooManyBytes } from '../http/body.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { Refusal } from '../http/refusal.ts';

const PLACES = 2;
/** Estimated memory of a waiting request besides its body, in bytes. */
const WAITING_BYTES = 16_384;

interface LongRequest extends LongTaskCaller {
  readonly rawBody: Buffer;
}

/** Runs and queues the long work of one server. */
export class LongWork {
  readonly #incompleteTransfers: ByteBudget;
  readonly #working = new Set<string>();
  /**
   * Callbacks that start a caller's waiting work; they return false when the request no longer
   * waits.
   */
  readonly #queue = new CallerQueue<() => boolean>();

  /**
   * @param incompleteTransfers counts the memory of waiting work, and drops the oldest when its limit is
   * reached
   */
  constructor(incompleteTransfers: ByteBudget) {
    this.#incompleteTransfers = incompleteTransfers;
  }

  /**
   * Runs a generator to its result, and yields to other requests at each `yield`. Returns 503 when
   * the byte budget was exhausted while this work waited and it was the oldest. Rejects with what
   * the work or `throwIfDisconnected` throws.
   */
  async run<Result>(
    request: LongRequest,
    work: Generator<void, Result>,
  ): Promise<Result | Refusal> {
    const { turnKey } = request;
    if (this.#isFree(turnKey)) this.#working.add(turnKey);
    else if (!(await this.#reserve(request))) return tooManyBytes;
    try {
      request.throwIfDisconnected();
      return await resultInTurns(work, request);
    } finally {
      this.#working.delete(turnKey);
      this.#startNext();
    }
  }

  #isFree(turnKey: string): boolean {
    return this.#working.size < PLACES && !this.#working.has(turnKey);
  }

  /** Resolves to true once the caller may start; false when the byte budget dropped its request. */
  #reserve({ turnKey, rawBody }: LongRequest): Promise<boolean> {
    return new Promise((resolve) => {
      let isWaiting = true;
      const transfer = this.#incompleteTransfers.open(() => {
        isWaiting = false;
        resolve(false);
      });
      transfer.set(WAITING_BYTES + rawBody.length);
      this.#queue.push(turnKey, () => {
        if (!isWaiting) return false;
        transfer.set(0);
        this.#working.add(turnKey);
        resolve(true);
        return true;
      });
    });
  }

  #startNext(): void {
    for (;;) {
      const start = this.#queue.shift((turnKey) => this.#isFree(turnKey));
      if (!start || start()) return;
    }
  }
}
