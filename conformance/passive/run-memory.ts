/** What rules remember of a server, whoever asked: request ids, refusals, facts that it stated. */

/** Request ids that are remembered; the oldest make room. */
const REQUEST_IDS_MAX = 50_000;
/** Facts that are remembered; after so many no more are taken in. */
const FACTS_MAX = 50_000;

/** Refusals of an operation, and whether any of them named its request. */
interface Refusals {
  count: number;
  named: number;
}

/** The memory of one run. */
export class RunMemory {
  readonly #requestIds = new Set<string>();
  readonly #refusals = new Map<string, Refusals>();
  readonly #said = new Map<string, unknown>();
  readonly #latest = new Map<string, number>();

  /** Takes in an id that the server made. Gives false when it was there before. */
  isNewRequestId(id: string): boolean {
    if (this.#requestIds.has(id)) return false;
    this.#requestIds.add(id);
    const [oldest] = this.#requestIds;
    if (this.#requestIds.size > REQUEST_IDS_MAX && oldest !== undefined) {
      this.#requestIds.delete(oldest);
    }
    return true;
  }

  /** Counts a refusal of the operation. Gives how many there were while none named its request. */
  unnamedRefusals(operation: string, isNamed: boolean): number {
    const known = this.#refusals.get(operation) ?? { count: 0, named: 0 };
    known.count += 1;
    if (isNamed) known.named += 1;
    this.#refusals.set(operation, known);
    return known.named > 0 ? 0 : known.count;
  }

  /**
   * Takes in what was said of something. Gives what was said at first where that was other.
   * @param isSame whether two values say the same
   */
  firstSaid(
    of: string,
    value: unknown,
    isSame: (first: unknown, value: unknown) => boolean,
  ): unknown {
    if (this.#said.has(of)) {
      const first = this.#said.get(of);
      return isSame(first, value) ? undefined : first;
    }
    if (this.#said.size < FACTS_MAX) this.#said.set(of, value);
    return undefined;
  }

  /** Records a time that was reported for something; returns the latest earlier one. */
  latest(of: string, ms: number): number | undefined {
    const before = this.#latest.get(of);
    const isNew = before === undefined ? this.#latest.size < FACTS_MAX : ms > before;
    if (isNew) this.#latest.set(of, ms);
    return before;
  }
}
