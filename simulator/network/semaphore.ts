/** Work that may go on a few at a time only. */

/** So many pieces of work at a time; whoever comes later waits for its turn. */
export class Semaphore {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Does the work when there is room; its fault is passed on. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#taken === this.#width) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#taken++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place goes straight to the next in line and stays taken.
      if (next) next();
      else this.#taken--;
    }
  }
}
