/** What happens on the protocol listener, told to whoever watches; nothing is kept. */
import { type Ended, type Subscriber, Subscribers } from './subscribers.ts';

/** One answered request. */
export interface Activity {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly requestId: string;
  readonly deviceId?: string;
}

/** A place where answered requests are published. */
export class ActivityFeed {
  readonly #subscribers = new Subscribers<Activity>();

  /** False when publishing would reach nobody; spares the hot path from building the object. */
  get watched(): boolean {
    return !this.#subscribers.isEmpty;
  }

  publish(activity: Activity): void {
    this.#subscribers.publish(activity);
  }

  /** Returns the function that ends the subscription. */
  subscribe(subscriber: Subscriber<Activity>, ended: Ended): () => void {
    return this.#subscribers.add(subscriber, ended);
  }
}
