/**
 * What happens in a fleet, one event after the other, as plain values. Holds no token, no signature
 * and no key: whoever emits an event has none of them to give.
 */
import type { Clock } from '../../fixtures/clock.ts';
import type { Ended } from '../result/result.ts';
import type { LifeState } from './life-states.ts';
import type { UpdateState } from './update-states.ts';

/** What happened, without when. `device` is the index; what concerns the whole fleet has none. */
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

/** A device stands otherwise with the server than before. */
interface LifeFact {
  readonly kind: 'life';
  readonly device: number;
  readonly from: LifeState;
  readonly state: LifeState;
}

/** A device's part in a deployment has come to a state. */
interface UpdateFact {
  readonly kind: 'update';
  readonly device: number;
  readonly deploymentId: string;
  readonly artifactName: string;
  readonly state: UpdateState;
}

/** A request of a device, or of the operator where there is no device, has come to its end. */
interface ExchangeFact {
  readonly kind: 'exchange';
  readonly device?: number;
  /** Id of the contract's operation. */
  readonly operation: string;
  /** Absent when no answer came; `cause` then says why, such as `transport/ECONNRESET`. */
  readonly status?: number;
  readonly cause?: string;
  readonly elapsedMs: number;
}

/** The run has made its deployment. */
interface DeploymentFact {
  readonly kind: 'deployment';
  readonly device?: undefined;
  readonly deploymentId: string;
  readonly artifactName: string;
}

/** What a watched device was answered broke a requirement of the contract. */
interface BreachFact {
  readonly kind: 'breach';
  readonly device: number;
  readonly requirement: string;
  readonly operation: string;
}

/** What happened, and when. */
export type FleetEvent = EventFact & {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** Counts the events of one device, or of the fleet, from 1 on. */
  readonly sequence: number;
};

/** Cause of the end of a socket that the run itself closes. */
export const RUN_ENDED = 'run-ended';

/** Where things that happen are told. */
export interface EventSink {
  emit(fact: EventFact): void;
}

/** Who is not listened to. */
export const nobodyListens: EventSink = { emit: () => undefined };

/** Stamps what happens with its time and number and passes it on. */
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
    this.#onEvent({ ...fact, atMs: this.#clock.now(), sequence });
  }
}

/** In the place of a device's index; before all of them. */
const FLEET = -1;

/** The one order of events: by time, then the fleet's before the devices', then as they came. */
export function inEventOrder(one: FleetEvent, other: FleetEvent): number {
  return (
    one.atMs - other.atMs ||
    (one.device ?? FLEET) - (other.device ?? FLEET) ||
    one.sequence - other.sequence
  );
}
