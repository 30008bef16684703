/**
 * The events of a fleet, as a sequence of plain values. An event contains no token, signature or
 * key, because the code that emits it has no access to them.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { EndReason } from '../result/result.ts';
import type { LifeState } from './life-states.ts';
import type { UpdateState } from './update-states.ts';

/**
 * An event without its time. `device` is the index of a device; it is absent in events of the whole
 * fleet.
 */
export type EventFact =
  | LifeFact
  | UpdateFact
  | ExchangeFact
  | { readonly kind: 'socket-opened'; readonly device: number }
  | { readonly kind: 'socket-closed'; readonly device: number; readonly cause: string }
  | DeploymentFact
  | ViolationFact
  | { readonly kind: 'stage'; readonly device?: undefined; readonly stage: string }
  | { readonly kind: 'ended'; readonly device?: undefined; readonly reason: EndReason };

/** The device's state in relation to the server has changed. */
interface LifeFact {
  readonly kind: 'life';
  readonly device: number;
  readonly from: LifeState;
  readonly state: LifeState;
}

/** A deployment on a device has entered a state. */
interface UpdateFact {
  readonly kind: 'update';
  readonly device: number;
  readonly deploymentId: string;
  readonly artifactName: string;
  readonly state: UpdateState;
}

/** A request has ended: a device's, or the user's when `device` is absent. */
interface ExchangeFact {
  readonly kind: 'exchange';
  readonly device?: number;
  /** ID of the contract's operation. */
  readonly operation: string;
  /** Absent when no response arrived; then `cause` says why, such as `transport/ECONNRESET`. */
  readonly status?: number;
  readonly cause?: string;
  readonly elapsedMs: number;
  /** The part of `elapsedMs` before the request was sent; absent when no response arrived. */
  readonly waitingMs?: number;
}

/** The run has created its deployment. */
interface DeploymentFact {
  readonly kind: 'deployment';
  readonly device?: undefined;
  readonly deploymentId: string;
  readonly artifactName: string;
}

/** A response to a watched device violated a requirement of the contract. */
interface ViolationFact {
  readonly kind: 'violation';
  readonly device: number;
  readonly requirement: string;
  readonly operation: string;
}

/** An event of a run, with its time and its sequence number. */
export type FleetEvent = EventFact & {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** Number of the event among the events of its device, or of the whole fleet, from 1. */
  readonly sequence: number;
};

/** Cause in a `socket-closed` event when the run itself closes the socket. */
export const RUN_ENDED = 'run-ended';

export interface EventSink {
  emit(fact: EventFact): void;
}

/** A sink that ignores all events. */
export const discardedEvents: EventSink = { emit: () => undefined };

/** Adds time and sequence number to events and passes them on. */
export class EventSource implements EventSink {
  readonly #clock: Clock;
  readonly #onEvent: (event: FleetEvent) => void;
  readonly #sequences = new Map<number, number>();

  constructor(clock: Clock, onEvent: (event: FleetEvent) => void) {
    this.#clock = clock;
    this.#onEvent = onEvent;
  }

  emit(fact: EventFact): void {
    const who = fact.device ?? FLEET;
    const sequence = (this.#sequences.get(who) ?? 0) + 1;
    this.#sequences.set(who, sequence);
    // The new members come before the spread: after it, V8 takes twenty times as long per event.
    this.#onEvent({ atMs: this.#clock.now(), sequence, ...fact });
  }
}

/** Stands for the whole fleet in place of a device index; it sorts before all devices. */
const FLEET = -1;

/** Compares two events: first by time, then the fleet before devices by index, then by sequence. */
export function compareEvents(one: FleetEvent, other: FleetEvent): number {
  return (
    one.atMs - other.atMs ||
    (one.device ?? FLEET) - (other.device ?? FLEET) ||
    one.sequence - other.sequence
  );
}
