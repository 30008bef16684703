/** Subscribers to events. One that throws affects neither the others nor the publisher. */

/** Called for each event; an exception ends the subscription. */
export type Subscriber<Event> = (event: Event) => void;

/** Called once with the reason when a subscription ends; must not throw. */
export type Ended = (fault: unknown) => void;

export class Subscribers<Event> {
  readonly #ended = new Map<Subscriber<Event>, Ended>();

  /** True without subscribers. */
  get isEmpty(): boolean {
    return this.#ended.size === 0;
  }

  publish(event: Event): void {
    for (const [subscriber, ended] of this.#ended) {
      try {
        subscriber(event);
      } catch (fault) {
        this.#ended.delete(subscriber);
        ended(fault);
      }
    }
  }

  /** Returns the function that ends the subscription. */
  add(subscriber: Subscriber<Event>, ended: Ended): () => void {
    this.#ended.set(subscriber, ended);
    return () => this.#ended.delete(subscriber);
  }
}
