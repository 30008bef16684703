/**
 * The state of one resource, with every state that a read may show: each order of overlapping
 * writes, with or without those whose effect may still come. A write under way may show any part.
 */
import { jsonInOrder } from '../../../fixtures/base/json.ts';
import type { Allows } from './allowances.ts';
import type { Span } from './tracked-value.ts';

/** More possible states than this are not tracked. */
const STATES_MAX = 64;
/** More writes than this are not tracked; a case that writes so often measures something else. */
const WRITES_MAX = 64;
/** Bounds the search through the orders of overlapping writes. */
const TRIES_MAX = 2000;

/** A write of a resource. */
export interface StateWrite<State> extends Span {
  /**
   * Returns the states that may follow: several where the contract leaves a choice.
   * @param earlierState undefined if any state is possible
   */
  readonly nextStates: (earlierState: State | undefined) => readonly (State | undefined)[];
  /** How long after its response the write may still be invisible, in milliseconds. */
  readonly effectDelayMaxMs: number;
}

/** How a state divides into named parts that do not depend on one another. */
export interface StateParts<State> {
  readonly names: (state: State) => readonly string[];
  /** Returns the state with the named part alone. */
  readonly only: (state: State, name: string) => State;
}

/** Some writes in an order that is possible, and the state that they give. */
interface Outcome<State> {
  /** The indexes of the writes that were applied or left out. */
  readonly decided: ReadonlySet<number>;
  readonly state: State | undefined;
}

/** A resource whose writes are all known. States must be JSON values. */
export class TrackedState<State> {
  readonly #initial: readonly (State | undefined)[];
  readonly #allows: Allows;
  readonly #writes: StateWrite<State>[] = [];

  /** @param initial the possible states before all writes; undefined stands for any state */
  constructor(initial: readonly (State | undefined)[], allows: Allows = () => true) {
    this.#initial = initial;
    this.#allows = allows;
  }

  write(write: StateWrite<State>): void {
    // Every read applies the writes anew, and the same states then have the same text.
    const cachedStates = new Map<State | undefined, readonly (State | undefined)[]>();
    const nextStates = (earlierState: State | undefined): readonly (State | undefined)[] => {
      const laterStates = cachedStates.get(earlierState) ?? write.nextStates(earlierState);
      cachedStates.set(earlierState, laterStates);
      return laterStates;
    };
    this.#writes.push({ ...write, nextStates });
  }

  /**
   * Returns the states that a read may show, that of all writes in the order of their responses
   * first. Returns undefined if they are too many to be tracked. An undefined state stands for any
   * state.
   * @param partOf returns the part of a state that the read is about; the whole state by default
   */
  possibleAt(
    { sentMs, endedMs }: Span,
    partOf: (state: State) => State = (state) => state,
  ): readonly (State | undefined)[] | undefined {
    const startedWrites = this.#writes.filter((each) => each.sentMs < endedMs);
    const isBeside = startedWrites.some((each) => each.endedMs > sentMs);
    if (isBeside && this.#allows('reads-beside-writes')) return [undefined];
    if (startedWrites.length > WRITES_MAX) return undefined;
    const isCertainlyVisible = (each: StateWrite<State>): boolean =>
      each.endedMs + each.effectDelayMaxMs <= sentMs;
    const orderedCount = countInFixedOrder(startedWrites, isCertainlyVisible);
    const writes = startedWrites.slice(orderedCount);
    const isCertain = writes.map(isCertainlyVisible);
    const initialStates = startedWrites
      .slice(0, orderedCount)
      .reduce(
        (states, write) =>
          distinct(states.flatMap(write.nextStates).map((each) => each && partOf(each))),
        this.#initial,
      );
    let outcomes = initialStates.map((state): Outcome<State> => ({ decided: new Set(), state }));
    let tries = 0;
    for (const _ of writes) {
      const nextOutcomes = new Map<string, Outcome<State>>();
      for (const { decided, state } of outcomes) {
        for (const index of this.#nextWrites(writes, decided)) {
          const write = writes[index];
          const isNew = isCertain[index] || this.#allows('effects-at-once');
          const states = [
            ...(isNew ? (write?.nextStates(state) ?? []) : []),
            ...(isCertain[index] ? [] : [state]),
          ].map((each) => each && partOf(each));
          const decidedWrites = new Set([...decided, index]);
          for (const each of states) {
            nextOutcomes.set(`${[...decidedWrites].toSorted()} ${textOf(each)}`, {
              decided: decidedWrites,
              state: each,
            });
          }
          tries += states.length;
          if (tries > TRIES_MAX) return undefined;
        }
      }
      outcomes = [...nextOutcomes.values()];
    }
    const states = distinct(outcomes.map(({ state }) => state));
    return states.length > STATES_MAX ? undefined : states;
  }

  /** Returns the possible states of each part alone, which are fewer than those of the whole. */
  possiblePartsAt(span: Span, { names, only }: StateParts<State>) {
    const [initial] = this.#initial;
    const lastState = this.#writes.reduce((state, write) => write.nextStates(state)[0], initial);
    const partNames = lastState === undefined ? [] : names(lastState);
    return partNames.map((name) => this.possibleAt(span, (state) => only(state, name)));
  }

  /** Returns the undecided writes that no other undecided write certainly precedes. */
  #nextWrites(
    writes: readonly StateWrite<State>[],
    decided: ReadonlySet<number>,
  ): readonly number[] {
    const undecidedIndexes = [...writes.keys()].filter((index) => !decided.has(index));
    if (!this.#allows('either-order')) return undecidedIndexes.slice(0, 1);
    return undecidedIndexes.filter((index) =>
      undecidedIndexes.every((otherIndex) => {
        const [write, otherWrite] = [writes[index], writes[otherIndex]];
        return write === undefined || otherWrite === undefined || otherWrite.endedMs > write.sentMs;
      }),
    );
  }
}

/**
 * Returns how many of the first writes have settled, each before the next ones were sent: these
 * have one order.
 */
function countInFixedOrder<Write extends Span>(
  writes: readonly Write[],
  isCertainlyVisible: (write: Write) => boolean,
): number {
  const firstUnordered = writes.findIndex(
    (write, index) =>
      !isCertainlyVisible(write) ||
      writes.slice(index + 1).some((laterWrite) => laterWrite.sentMs < write.endedMs),
  );
  return firstUnordered === -1 ? writes.length : firstUnordered;
}

/** Returns the states without equal ones. */
function distinct<State>(states: readonly (State | undefined)[]): readonly (State | undefined)[] {
  if (states.length < 2) return states;
  return [...new Map(states.map((state) => [textOf(state), state])).values()];
}

const texts = new WeakMap<object, string>();

function textOf(state: unknown): string {
  if (typeof state !== 'object' || state === null) return `${state}`;
  const text = texts.get(state) ?? jsonInOrder(state);
  texts.set(state, text);
  return text;
}
