/** A semaphore that limits how many tasks run at the same time. */

/** Runs a limited number of tasks at a time; later ones wait for their turn. */
export class Semaphore {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Runs the task when there is room; its error is passed on. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#taken === this.#width) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#taken++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The slot goes directly to the next waiting task and stays taken.
      if (next) next();
      else this.#taken--;
    }
  }
}
