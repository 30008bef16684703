/** Tracks every resource of one kind in a case, by the rows of `Resource`. */
import { membersOf } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import type { KnownDevices } from './known-devices.ts';
import type { ReadBackCounter } from './read-back-counter.ts';
import { EFFECT_DELAY_MAX_MS, type Effect, type Reading, type Resource } from './resource.ts';
import { TrackedState } from './tracked-state.ts';
import { type Span, withUnknownEnd } from './tracked-value.ts';
import type { TrackedViolation, Tracker } from './tracker.ts';

/** Decisions on a device after which the contract leaves open what remains of its resources. */
const undeterminingOperations = ['decommission-device', 'delete-auth-set', 'set-auth-set-status'];

/** Tracks the resources of one kind. */
export class ResourceTracker<State> implements Tracker {
  readonly #resource: Resource<State>;
  readonly #devices: KnownDevices;
  /** The states of the resources of each device, by instance. */
  readonly #states = new Map<string, Map<string, TrackedState<State>>>();
  readonly #readBackCounter: ReadBackCounter;

  constructor(resource: Resource<State>, devices: KnownDevices, counter: ReadBackCounter) {
    this.#resource = resource;
    this.#devices = devices;
    this.#readBackCounter = counter;
  }

  judge(exchange: JudgedExchange): readonly TrackedViolation[] {
    const { operation, request, status, isSuccess, hasBody } = exchange;
    this.#setUndetermined(exchange);
    if (isSuccess) this.#write(exchange, request);
    // A server error may have occurred before or after the effect.
    else if (status >= 500) this.recordNoResponse(exchange);
    if (status !== 200 || !hasBody) return [];
    const readings = this.#resource.reads[operation.id]?.(exchange, this.#devices) ?? [];
    return readings.flatMap((reading) => this.#judge(reading, exchange));
  }

  recordNoResponse(exchange: JudgedExchange): void {
    this.#setUndetermined(exchange);
    if (!this.#devices.allows('failed-writes-may-count')) return;
    this.#write(exchange, withUnknownEnd(exchange.request));
  }

  #write(exchange: JudgedExchange, span: Span): void {
    const effects = this.#resource.writes[exchange.operation.id]?.(exchange, this.#devices) ?? [];
    const { allows } = this.#devices;
    for (const { nextStates, effectDelayMaxMs: givenMs = EFFECT_DELAY_MAX_MS, ...key } of effects) {
      const effectDelayMaxMs = allows('effects-settle') ? givenMs : 0;
      // Which of several resources was written is not known, so each may have been.
      const isKnown = key.device !== undefined && key.instance !== null && nextStates !== undefined;
      const { sentMs, endedMs } = isKnown ? span : withUnknownEnd(span);
      const write = {
        sentMs,
        endedMs,
        effectDelayMaxMs,
        nextStates: nextStates ?? (() => [undefined]),
      };
      for (const state of this.#statesOf(key)) state.write(write);
    }
  }

  #setUndetermined(exchange: JudgedExchange): void {
    const { operation, request, requestJson } = exchange;
    if (
      !undeterminingOperations.includes(operation.id) ||
      membersOf(requestJson).status === 'accepted'
    )
      return;
    const device = this.#devices.ofId(exchange.pathParameter('id'));
    for (const state of this.#statesOf({ device, instance: null })) {
      const span = withUnknownEnd(request);
      state.write({ ...span, effectDelayMaxMs: 0, nextStates: () => [undefined] });
    }
  }

  /** Returns the resources that a key may mean, and tracks the one that it names from now on. */
  #statesOf({ device, instance = '' }: Effect<State>): readonly TrackedState<State>[] {
    if (device === undefined || instance === null) {
      return [...this.#states]
        .filter(([trackedDevice]) => device === undefined || trackedDevice === device)
        .flatMap(([, states]) =>
          instance === null ? [...states.values()] : (states.get(instance) ?? []),
        );
    }
    const { allows } = this.#devices;
    const states = this.#states.get(device) ?? new Map<string, TrackedState<State>>();
    this.#states.set(device, states);
    const state = states.get(instance) ?? new TrackedState(this.#resource.initial(allows), allows);
    states.set(instance, state);
    return [state];
  }

  #judge(
    { device, instance, differenceFrom }: Reading<State>,
    { operation, request }: JudgedExchange,
  ): readonly TrackedViolation[] {
    const trackedState = this.#states.get(device ?? '')?.get(instance ?? '');
    if (trackedState === undefined) return [];
    const { parts } = this.#resource;
    const wholeStates = trackedState.possibleAt(request);
    const partStates =
      wholeStates === undefined && parts && trackedState.possiblePartsAt(request, parts);
    const judgedStates = partStates || [wholeStates];
    this.#readBackCounter.add(
      operation.id,
      judgedStates.includes(undefined) ? undefined : judgedStates.flat(),
    );
    return judgedStates.flatMap((states = []) => violationOf(states, differenceFrom));
  }
}

/**
 * Returns the violation if the response shows none of the states, of which none may be any state.
 */
function violationOf<State>(
  states: readonly (State | undefined)[],
  differenceFrom: Reading<State>['differenceFrom'],
): readonly TrackedViolation[] {
  const determinedStates = states.filter((each) => each !== undefined);
  if (determinedStates.length < states.length) return [];
  const violations = determinedStates.map((each) => differenceFrom(each, determinedStates));
  const [firstViolation] = violations;
  return firstViolation === undefined || violations.includes(undefined) ? [] : [firstViolation];
}
