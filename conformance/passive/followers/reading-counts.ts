/** Counts the answers that show a followed resource, by operation, with the states possible then. */

/** The readings of one operation. */
export interface FollowedReadings {
  readonly operation: string;
  /** The number of answers that were held against the possible states. */
  readonly judged: number;
  /** The number of possible states in all judged readings together. */
  readonly states: number;
  /** The number of answers that were not judged, since too many states were possible. */
  readonly unfollowed: number;
}

/** The counts of one run. */
export class ReadingCounts {
  readonly #byOperation = new Map<string, FollowedReadings>();

  /** @param states the possible states; undefined for too many, and among them for any state */
  add(operation: string, states: readonly unknown[] | undefined): void {
    if (states?.includes(undefined)) return;
    const before = this.#byOperation.get(operation) ?? { judged: 0, states: 0, unfollowed: 0 };
    this.#byOperation.set(operation, {
      operation,
      judged: before.judged + (states === undefined ? 0 : 1),
      states: before.states + (states?.length ?? 0),
      unfollowed: before.unfollowed + (states === undefined ? 1 : 0),
    });
  }

  /** The counts by operation, in the order in which operations were first seen. */
  get rows(): readonly FollowedReadings[] {
    return [...this.#byOperation.values()];
  }
}
