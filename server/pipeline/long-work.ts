/**
 * Work that takes many rounds of the event loop and occupies memory: a few tasks at a time,
 * one per caller; the others wait, and callers take turns.
 */
import { CallerQueue } from '../../fixtures/caller-queue.ts';
import { type LongTaskOf, resultInTurns } from '../../fixtures/clock.ts';
import { tooManyBytes } from '../http/body.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { Refusal } from '../http/refusal.ts';

const PLACES = 2;
/** What a request that waits takes besides its body. */
const WAITING_BYTES = 16_384;

interface Asked extends LongTaskOf {
  readonly rawBody: Buffer;
}

/** The places of one server. */
export class LongWork {
  readonly #underway: ByteBudget;
  readonly #working = new Set<string>();
  /** What takes the place of its caller; false when it is not wanted any more. */
  readonly #waiting = new CallerQueue<() => boolean>();

  /** @param underway counts the waiting work, and refuses the oldest when the limit is reached */
  constructor(underway: ByteBudget) {
    this.#underway = underway;
  }

  /**
   * Runs a generator to its result, pausing at each yield for other work; returns 503 where it had to
   * make room while it waited. Rejects with what the work, or `stopIfGone`, throws.
   */
  async run<Result>(asked: Asked, work: Generator<void, Result>): Promise<Result | Refusal> {
    const { caller } = asked;
    if (this.#isFree(caller)) this.#working.add(caller);
    else if (!(await this.#place(asked))) return tooManyBytes;
    try {
      asked.stopIfGone();
      return await resultInTurns(work, asked);
    } finally {
      this.#working.delete(caller);
      this.#giveAway();
    }
  }

  #isFree(caller: string): boolean {
    return this.#working.size < PLACES && !this.#working.has(caller);
  }

  /** Resolves once the caller has a place; false when it will not get any. */
  #place({ caller, rawBody }: Asked): Promise<boolean> {
    return new Promise((resolve) => {
      let isWaiting = true;
      const held = this.#underway.open(() => {
        isWaiting = false;
        resolve(false);
      });
      held.set(WAITING_BYTES + rawBody.length);
      this.#waiting.push(caller, () => {
        if (!isWaiting) return false;
        held.set(0);
        this.#working.add(caller);
        resolve(true);
        return true;
      });
    });
  }

  #giveAway(): void {
    for (;;) {
      const start = this.#waiting.shift((caller) => this.#isFree(caller));
      if (!start || start()) return;
    }
  }
}
