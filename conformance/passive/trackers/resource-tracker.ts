/** Tracks every resource of one kind in a case, by the rows of `Resource`. */
import { membersOf } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import type { KnownDevices } from './known-devices.ts';
import type { ReadBackCounter } from './read-back-counter.ts';
import { EFFECT_DELAY_MAX_MS, type Effect, type Reading, type Resource } from './resource.ts';
import { TrackedState } from './tracked-state.ts';
import { openEnded, type Span } from './tracked-value.ts';
import type { TrackedViolation, Tracker } from './tracker.ts';

/** Decisions on a device after which the contract leaves open what remains of its resources. */
const openings = ['decommission-device', 'delete-auth-set', 'set-auth-set-status'];

/** Tracks the resources of one kind. */
export class ResourceTracker<State> implements Tracker {
  readonly #resource: Resource<State>;
  readonly #facts: KnownDevices;
  readonly #states = new Map<string, TrackedState<State>>();
  readonly #counts: ReadBackCounter;

  constructor(resource: Resource<State>, facts: KnownDevices, counter: ReadBackCounter) {
    this.#resource = resource;
    this.#facts = facts;
    this.#counts = counter;
  }

  judge(exchange: JudgedExchange): readonly TrackedViolation[] {
    const { operation, request, status, isSuccess, hasBody } = exchange;
    this.#open(exchange);
    if (isSuccess) this.#write(exchange, request);
    // A server error may have occurred before or after the effect.
    else if (status >= 500) this.recordNoResponse(exchange);
    if (status !== 200 || !hasBody) return [];
    const readings = this.#resource.reads[operation.id]?.(exchange, this.#facts) ?? [];
    return readings.flatMap((reading) => this.#judge(reading, exchange));
  }

  recordNoResponse(exchange: JudgedExchange): void {
    this.#open(exchange);
    if (!this.#facts.allows('failed-writes-may-count')) return;
    this.#write(exchange, openEnded(exchange.request));
  }

  #write(exchange: JudgedExchange, span: Span): void {
    const effects = this.#resource.writes[exchange.operation.id]?.(exchange, this.#facts) ?? [];
    const { allows } = this.#facts;
    for (const { nextStates, effectDelayMaxMs: givenMs = EFFECT_DELAY_MAX_MS, ...key } of effects) {
      const effectDelayMaxMs = allows('effects-settle') ? givenMs : 0;
      // Which of several resources was written is not known, so each may have been.
      const isKnown = key.device !== undefined && key.instance !== null && nextStates !== undefined;
      const { sentMs, endedMs } = isKnown ? span : openEnded(span);
      const write = {
        sentMs,
        endedMs,
        effectDelayMaxMs,
        nextStates: nextStates ?? (() => [undefined]),
      };
      for (const state of this.#statesOf(key)) state.write(write);
    }
  }

  #open(exchange: JudgedExchange): void {
    const { operation, request, requestJson } = exchange;
    if (!openings.includes(operation.id) || membersOf(requestJson).status === 'accepted') return;
    const id = exchange.segment(
      operation.id === 'decommission-device' ? 0 : openingIdAt(operation.id),
    );
    const device = this.#facts.ofId(id);
    for (const [key, state] of this.#states) {
      if (device !== undefined && !key.startsWith(`${device}\n`)) continue;
      const span = openEnded(request);
      state.write({ ...span, effectDelayMaxMs: 0, nextStates: () => [undefined] });
    }
  }

  /** Returns the resources that a key may mean, and tracks the one that it names from now on. */
  #statesOf({ device, instance = '' }: Effect<State>): readonly TrackedState<State>[] {
    if (device === undefined || instance === null) {
      return [...this.#states]
        .filter(([key]) => device === undefined || key.startsWith(`${device}\n`))
        .filter(([key]) => instance === null || key.endsWith(`\n${instance}`))
        .map(([, state]) => state);
    }
    const key = `${device}\n${instance}`;
    const { allows } = this.#facts;
    const known = this.#states.get(key) ?? new TrackedState(this.#resource.initial(allows), allows);
    this.#states.set(key, known);
    return [known];
  }

  #judge(
    { device, instance, differenceFrom }: Reading<State>,
    { operation, request }: JudgedExchange,
  ): readonly TrackedViolation[] {
    const tracked = this.#states.get(`${device}\n${instance ?? ''}`);
    if (device === undefined || tracked === undefined) return [];
    const { parts } = this.#resource;
    const whole = tracked.possibleAt(request);
    const separate = whole === undefined && parts && tracked.possiblePartsAt(request, parts);
    const judged = separate || [whole];
    this.#counts.add(operation.id, judged.includes(undefined) ? undefined : judged.flat());
    return judged.flatMap((states = []) => violationOf(states, differenceFrom));
  }
}

/**
 * Returns the violation if the response shows none of the states, of which none may be any state.
 */
function violationOf<State>(
  states: readonly (State | undefined)[],
  differs: Reading<State>['differenceFrom'],
): readonly TrackedViolation[] {
  const known = states.filter((each) => each !== undefined);
  if (known.length < states.length) return [];
  const violations = known.map((each) => differs(each, known));
  const [first] = violations;
  return first === undefined || violations.includes(undefined) ? [] : [first];
}

/** Returns where a path has the device's ID, counted from its end. */
function openingIdAt(operation: string): number {
  return operation === 'delete-auth-set' ? 2 : 3;
}
