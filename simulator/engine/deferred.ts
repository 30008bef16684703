/** A promise that is settled from outside. */

/**
 * A promise that `resolve` or `reject` settles; only the first call has an effect. A rejection that
 * nobody awaits is ignored.
 */
export class Deferred<Value> {
  readonly value: Promise<Value>;
  #resolve: (value: Value) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.value = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A rejection that nobody awaits must not end the process; callers that await it still receive
    // it.
    this.value.catch(() => undefined);
  }

  resolve(value: Value): void {
    this.#resolve(value);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }
}
