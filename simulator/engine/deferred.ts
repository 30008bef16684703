/** A promise that is settled from outside. */

/** Settled by the first of `resolve` and `reject`; nobody has to wait for it. */
export class Deferred<Value> {
  readonly value: Promise<Value>;
  #resolve: (value: Value) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.value = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever waits is told; a rejection for which nobody waits is no fault of the program.
    this.value.catch(() => undefined);
  }

  resolve(value: Value): void {
    this.#resolve(value);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }
}
