/** Runs a limited number of tasks at a time; later ones wait for their turn. */
export class Semaphore {
  readonly #width: number;
  readonly #queue: (() => void)[] = [];
  #taken = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /**
   * Runs the task as soon as fewer tasks than the limit are running. An error of the task is
   * thrown.
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#taken === this.#width) await new Promise<void>((go) => this.#queue.push(go));
    else this.#taken++;
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      // The slot passes directly to the next waiting task, so the count stays unchanged.
      if (next) next();
      else this.#taken--;
    }
  }
}
