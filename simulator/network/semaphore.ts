/** Work that may go on a few at a time only. */

/** So many lanes; who finds all of them taken waits for its turn. */
export class Semaphore {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Does the work when a lane is free; its fault is passed on. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#taken === this.#width) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#taken++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The lane goes straight to the next in line and stays taken.
      if (next) next();
      else this.#taken--;
    }
  }
}
