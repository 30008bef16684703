/** The type of a tracked resource: which operations write it, and which read it. */
import type { JudgedExchange } from '../judged-exchange.ts';
import type { Allows } from './allowances.ts';
import type { KnownDevices } from './known-devices.ts';
import type { StateParts } from './tracked-state.ts';
import type { TrackedViolation } from './tracker.ts';

/**
 * How long an effect may stay invisible where the contract does not say when it appears, in
 * milliseconds. Cases wait as long for it.
 */
export const EFFECT_DELAY_MAX_MS = 5000;

/** The resource that a request concerns. */
interface ResourceKey {
  /** The identity of its device; undefined if it is not known, so that it may be any. */
  readonly device: string | undefined;
  /** Which of the device's resources: absent if it has only one, null if it may be any. */
  readonly instance?: string | null | undefined;
}

/** The effect of an accepted request. */
export interface Effect<State> extends ResourceKey {
  /** See `StateWrite`. Absent if the request leaves the resource in any state from then on. */
  readonly nextStates?: (earlierState: State | undefined) => readonly (State | undefined)[];
  /**
   * Milliseconds until the effect is visible; `EFFECT_DELAY_MAX_MS` unless it is visible at once.
   */
  readonly effectDelayMaxMs?: number;
}

/** The state of a resource that a response shows. */
export interface Reading<State> extends ResourceKey {
  /**
   * Returns how the response differs from the state; undefined if it shows the state.
   * @param possibleStates every possible state, so that what only another one has must be absent
   */
  readonly differenceFrom: (
    state: State,
    possibleStates: readonly State[],
  ) => TrackedViolation | undefined;
}

/** Reads an exchange, and returns what it writes or shows. */
type Reader<Result> = (exchange: JudgedExchange, devices: KnownDevices) => readonly Result[];

/** A kind of resource. Its rows name the operations that write it and those that read it. */
export interface Resource<State> {
  readonly name: string;
  /** The possible states before all writes; undefined stands for any state. */
  readonly initial: (allows: Allows) => readonly (State | undefined)[];
  /** Present if parts of the state can be tracked alone where the whole has too many states. */
  readonly parts?: StateParts<State>;
  /** The effects of requests by operation, if they are accepted. */
  readonly writes: Readonly<Record<string, Reader<Effect<State>>>>;
  /** Readers of responses, by operation; only responses of 200 are read. */
  readonly reads: Readonly<Record<string, Reader<Reading<State>>>>;
}

/** Returns true if the request body has one reading: no repeated name, no unusual number. */
export function isPlainJson({ requestJson, request: { body = '' } }: JudgedExchange): boolean {
  return requestJson !== undefined && JSON.stringify(requestJson) === String(body);
}

/** Returns true if the text has no half of a surrogate pair, so that every server can keep it. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Returns the names that any of the maps has. */
export function namesIn(maps: readonly object[]): readonly string[] {
  return [...new Set(maps.flatMap((each) => Object.keys(each)))];
}
