/** The waits of a run, which all end with it. */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import { FleetStopped } from '../network/errors.ts';
import { InProgress, type Placed } from '../network/in-progress.ts';

/** A pending wait and its owner. */
interface Wait {
  readonly waitMs: number;
  readonly sleeper?: object | undefined;
  /** The worker whose work the wait is part of. */
  readonly worker?: object | undefined;
  readonly outlivesDrain: boolean;
}

/** A wait that has begun. */
interface Begun extends Placed {
  readonly outlivesDrain: boolean;
  /** Ends it as if its time had come. */
  readonly wake: () => void;
  readonly interrupt: (error: Error) => void;
}

/** All pending waits; `stop` ends them all with FleetStopped. */
export class Scheduler {
  readonly #clock: Clock;
  readonly #begun = new InProgress<Begun>();
  /** Waits by sleeper and by worker. Entries outlive their waits; `InProgress` explains why. */
  readonly #resting = new Map<object, Begun | undefined>();
  readonly #working = new Map<object, Begun | undefined>();
  /** Sleepers that were woken while not resting. */
  readonly #woken = new Set<object>();
  #state: 'open' | 'draining' | 'stopped' = 'open';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get stopped(): boolean {
    return this.#state === 'stopped';
  }

  /** Number of pending waits. */
  get count(): number {
    return this.#begun.size;
  }

  /**
   * @param waitMs Infinity: until the end of the run
   * @param sleeper key with which `wake` can end the wait early
   * @throws FleetStopped when the run is over, or ends during the wait
   */
  rest(waitMs: number, sleeper?: object): Promise<void> {
    return this.#begin({ waitMs, sleeper, outlivesDrain: false });
  }

  /**
   * Waits in the middle of a worker's work; `interrupt` may end it early.
   * @param outlivesDrain true when the work is to be finished when the run drains
   * @throws FleetStopped likewise; the error of the interruption
   */
  restAmidst(waitMs: number, worker: object, outlivesDrain: boolean): Promise<void> {
    return this.#begin({ waitMs, worker, outlivesDrain });
  }

  /**
   * Waits without being interruptible, for a device that receives nothing meanwhile.
   * @param outlivesDrain true when it is part of work that is to be finished when the run drains
   * @throws FleetStopped likewise
   */
  restUnheard(waitMs: number, outlivesDrain: boolean): Promise<void> {
    return this.#begin({ waitMs, outlivesDrain });
  }

  /** Ends the sleeper's rest now; when it is not resting, its next rest ends immediately. */
  wake(sleeper: object): void {
    const resting = this.#resting.get(sleeper);
    if (resting) resting.wake();
    else this.#woken.add(sleeper);
  }

  /** Ends the wait that the worker is in, if any. */
  interrupt(worker: object, error: Error): void {
    this.#working.get(worker)?.interrupt(error);
  }

  /** Ends every wait but those in work that is to be finished, and every later one immediately. */
  drain(): void {
    if (this.#state === 'open') this.#state = 'draining';
    for (const { outlivesDrain, interrupt } of this.#begun.now()) {
      if (!outlivesDrain) interrupt(new FleetStopped());
    }
  }

  /** Ends every wait, and every later one immediately. */
  stop(): void {
    this.#state = 'stopped';
    for (const { interrupt } of this.#begun.now()) interrupt(new FleetStopped());
  }

  #begin(wait: Wait): Promise<void> {
    const { waitMs, sleeper, worker, outlivesDrain } = wait;
    return new Promise((resolve, reject) => {
      const isOver = this.#state === 'stopped' || (this.#state === 'draining' && !outlivesDrain);
      if (isOver) return reject(new FleetStopped());
      if (sleeper !== undefined && this.#woken.delete(sleeper)) return resolve();
      let timer: Timer | undefined;
      const end = (): void => {
        timer?.cancel();
        this.#begun.delete(begun);
        if (sleeper !== undefined) this.#resting.set(sleeper, undefined);
        if (worker !== undefined) this.#working.set(worker, undefined);
      };
      const begun: Begun = {
        place: undefined,
        outlivesDrain,
        wake: () => {
          end();
          resolve();
        },
        interrupt: (error) => {
          end();
          reject(error);
        },
      };
      if (Number.isFinite(waitMs)) timer = this.#clock.after(waitMs, begun.wake);
      this.#begun.add(begun);
      if (sleeper !== undefined) this.#resting.set(sleeper, begun);
      if (worker !== undefined) this.#working.set(worker, begun);
    });
  }
}
