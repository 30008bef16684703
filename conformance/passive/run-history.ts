/**
 * The facts that checks have recorded about a server: request IDs, refusals, and values in responses.
 */

/** Maximum number of recorded request IDs; a new ID then replaces the oldest. */
const REQUEST_IDS_MAX = 50_000;
/** Maximum number of recorded facts; further ones are ignored. */
const FACTS_MAX = 50_000;

/** Number of refusals of an operation, and of those that carried a request ID. */
interface Refusals {
  count: number;
  withId: number;
}

/** The history of one run. */
export class RunHistory {
  readonly #requestIds = new Set<string>();
  readonly #refusals = new Map<string, Refusals>();
  readonly #facts = new Map<string, unknown>();
  readonly #latest = new Map<string, number>();

  /** Records a request ID that the server generated. Returns false if the ID was seen before. */
  isNewRequestId(id: string): boolean {
    if (this.#requestIds.has(id)) return false;
    this.#requestIds.add(id);
    const [oldest] = this.#requestIds;
    if (this.#requestIds.size > REQUEST_IDS_MAX && oldest !== undefined) {
      this.#requestIds.delete(oldest);
    }
    return true;
  }

  /**
   * Counts a refusal of the operation. Returns the number of its refusals so far, or 0 if at least
   * one of them carried a request ID.
   */
  refusalsWithoutId(operation: string, hasId: boolean): number {
    const counts = this.#refusals.get(operation) ?? { count: 0, withId: 0 };
    counts.count += 1;
    if (hasId) counts.withId += 1;
    this.#refusals.set(operation, counts);
    return counts.withId > 0 ? 0 : counts.count;
  }

  /**
   * Records the value that the server stated for a subject. Returns the first recorded value if it
   * differs from this one; otherwise undefined.
   * @param subject the subject, such as the artifact and its field
   * @param isSame returns true if two values are equivalent
   */
  earlierValue(
    subject: string,
    value: unknown,
    isSame: (recordedValue: unknown, value: unknown) => boolean,
  ): unknown {
    if (this.#facts.has(subject)) {
      const recordedValue = this.#facts.get(subject);
      return isSame(recordedValue, value) ? undefined : recordedValue;
    }
    if (this.#facts.size < FACTS_MAX) this.#facts.set(subject, value);
    return undefined;
  }

  /**
   * Records a time that the server stated for a subject. Returns the latest time that was recorded
   * before; undefined if there was none.
   */
  latest(subject: string, ms: number): number | undefined {
    const latestMs = this.#latest.get(subject);
    const isNew = latestMs === undefined ? this.#latest.size < FACTS_MAX : ms > latestMs;
    if (isNew) this.#latest.set(subject, ms);
    return latestMs;
  }
}
