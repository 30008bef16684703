/** Those who are told of something as it happens. One that throws harms neither the others nor what happens. */

/** Is told of each event; what it throws ends its subscription. */
export type Subscriber<Event> = (event: Event) => void;

/** Is told once why the subscription ended; must not throw. */
export type Ended = (fault: unknown) => void;

export class Subscribers<Event> {
  readonly #ended = new Map<Subscriber<Event>, Ended>();

  /** True when there is nobody to tell. */
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
