/** A promise that is settled from outside. */

/** Settled by the first call of `resolve` or `reject`; it need not be awaited. */
export class Deferred<Value> {
  readonly value: Promise<Value>;
  #resolve: (value: Value) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.value = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // An unawaited rejection must not end the process; awaiting callers still get it.
    this.value.catch(() => undefined);
  }

  resolve(value: Value): void {
    this.#resolve(value);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }
}
