/** What happens on the protocol listener, told to whoever watches; nothing is kept. */

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

type Listener = (activity: Activity) => void;

/** A place where answered requests are published. */
export class ActivityFeed {
  readonly #listeners = new Set<Listener>();

  /** False when publishing would reach nobody; spares the hot path from building the object. */
  get watched(): boolean {
    return this.#listeners.size > 0;
  }

  publish(activity: Activity): void {
    for (const listener of this.#listeners) listener(activity);
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
