/**
 * Counts the responses that show a tracked resource, by operation, with the states possible then.
 */

/** The responses of one operation that were read back. */
export interface ReadBackCounts {
  readonly operation: string;
  /** The number of responses that were held against the possible states. */
  readonly judged: number;
  /** The number of possible states in all judged responses together. */
  readonly possibleStates: number;
  /** The number of responses that were not judged, since too many states were possible. */
  readonly undecided: number;
}

/** The counts of one run. */
export class ReadBackCounter {
  readonly #byOperation = new Map<string, ReadBackCounts>();

  /** @param states the possible states; undefined for too many, and among them for any state */
  add(operation: string, states: readonly unknown[] | undefined): void {
    if (states?.includes(undefined)) return;
    const counts = this.#byOperation.get(operation) ?? {
      judged: 0,
      possibleStates: 0,
      undecided: 0,
    };
    this.#byOperation.set(operation, {
      operation,
      judged: counts.judged + (states === undefined ? 0 : 1),
      possibleStates: counts.possibleStates + (states?.length ?? 0),
      undecided: counts.undecided + (states === undefined ? 1 : 0),
    });
  }

  /** The counts by operation, in the order in which operations were first seen. */
  get rows(): readonly ReadBackCounts[] {
    return [...this.#byOperation.values()];
  }
}
