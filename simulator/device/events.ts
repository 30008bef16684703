/**
 * Everything that happens in a fleet, as a sequence of plain values. Contains no token, signature
 * or key: code that emits events has no access to them.
 */
import type { Clock } from '../../fixtures/clock.ts';
import type { Ended } from '../result/result.ts';
import type { LifeState } from './life-states.ts';
import type { UpdateState } from './update-states.ts';

/** What happened, without the time. `device` is the index; absent for events of the whole fleet. */
export type EventFact =
  | LifeFact
  | UpdateFact
  | ExchangeFact
  | { readonly kind: 'socket-opened'; readonly device: number }
  | { readonly kind: 'socket-closed'; readonly device: number; readonly cause: string }
  | DeploymentFact
  | BreachFact
  | { readonly kind: 'phase'; readonly device?: undefined; readonly phase: string }
  | { readonly kind: 'ended'; readonly device?: undefined; readonly because: Ended };

/** A device's state towards the server has changed. */
interface LifeFact {
  readonly kind: 'life';
  readonly device: number;
  readonly from: LifeState;
  readonly state: LifeState;
}

/** A device deployment has reached a state. */
interface UpdateFact {
  readonly kind: 'update';
  readonly device: number;
  readonly deploymentId: string;
  readonly artifactName: string;
  readonly state: UpdateState;
}

/** A request of a device has ended, or one of the operator when there is no device. */
interface ExchangeFact {
  readonly kind: 'exchange';
  readonly device?: number;
  /** ID of the contract's operation. */
  readonly operation: string;
  /** Absent when there was no response; `cause` then says why, such as `transport/ECONNRESET`. */
  readonly status?: number;
  readonly cause?: string;
  readonly elapsedMs: number;
}

/** The run has created its deployment. */
interface DeploymentFact {
  readonly kind: 'deployment';
  readonly device?: undefined;
  readonly deploymentId: string;
  readonly artifactName: string;
}

/** A response to a watched device violated a requirement of the contract. */
interface BreachFact {
  readonly kind: 'breach';
  readonly device: number;
  readonly requirement: string;
  readonly operation: string;
}

/** An event of a run, with its time and its sequence number. */
export type FleetEvent = EventFact & {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** Counts the events of one device, or of the fleet, from 1. */
  readonly sequence: number;
};

/** Close cause of a socket that the run itself closes. */
export const RUN_ENDED = 'run-ended';

export interface EventSink {
  emit(fact: EventFact): void;
}

/** A sink that discards events. */
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
    // New members come before the spread one: after it, V8 takes twenty times as long for each.
    this.#onEvent({ atMs: this.#clock.now(), sequence, ...fact });
  }
}

/** Replaces the device index; sorts before all devices. */
const FLEET = -1;

/** Compares events: by time, then fleet before devices, then by sequence. */
export function inEventOrder(one: FleetEvent, other: FleetEvent): number {
  return (
    one.atMs - other.atMs ||
    (one.device ?? FLEET) - (other.device ?? FLEET) ||
    one.sequence - other.sequence
  );
}
