/** The waits of a run, which all end with it. */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import { FleetStopped } from '../network/errors.ts';

/** A pending wait and its owner. */
interface Wait {
  readonly waitMs: number;
  readonly sleeper?: object | undefined;
  /** The worker whose work the wait is part of. */
  readonly worker?: object | undefined;
  readonly outlivesDrain: boolean;
}

/** All pending waits; `stop` ends them all with FleetStopped. */
export class Scheduler {
  readonly #clock: Clock;
  readonly #stops = new Map<() => void, { readonly outlivesDrain: boolean }>();
  readonly #wakes = new Map<object, () => void>();
  readonly #interrupts = new Map<object, (error: Error) => void>();
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
    return this.#stops.size;
  }

  /**
   * @param waitMs Infinity: until the end of the run
   * @param sleeper key with which `wake` can end the wait early
   * @throws FleetStopped when the run is over, or ends during the wait
   */
  rest(waitMs: number, sleeper?: object): Promise<void> {
    return this.#begun({ waitMs, sleeper, outlivesDrain: false });
  }

  /**
   * Waits in the middle of a worker's work; `interrupt` may end it early.
   * @param outlivesDrain true when the work is to be finished when the run drains
   * @throws FleetStopped likewise; the error of the interruption
   */
  restAmidst(waitMs: number, worker: object, outlivesDrain: boolean): Promise<void> {
    return this.#begun({ waitMs, worker, outlivesDrain });
  }

  /**
   * Waits without being interruptible, for a device that receives nothing meanwhile.
   * @param outlivesDrain true when it is part of work that is to be finished when the run drains
   * @throws FleetStopped likewise
   */
  restUnheard(waitMs: number, outlivesDrain: boolean): Promise<void> {
    return this.#begun({ waitMs, outlivesDrain });
  }

  /** Ends the sleeper's rest now; when it is not resting, its next rest ends immediately. */
  wake(sleeper: object): void {
    const wake = this.#wakes.get(sleeper);
    if (wake) wake();
    else this.#woken.add(sleeper);
  }

  /** Ends the wait that the worker is in, if any. */
  interrupt(worker: object, error: Error): void {
    this.#interrupts.get(worker)?.(error);
  }

  /** Ends every wait but those in work that is to be finished, and every later one immediately. */
  drain(): void {
    if (this.#state === 'open') this.#state = 'draining';
    for (const [stop, { outlivesDrain }] of this.#stops) if (!outlivesDrain) stop();
  }

  /** Ends every wait, and every later one immediately. */
  stop(): void {
    this.#state = 'stopped';
    for (const stop of this.#stops.keys()) stop();
  }

  #begun(wait: Wait): Promise<void> {
    const { waitMs, sleeper, worker, outlivesDrain } = wait;
    return new Promise((resolve, reject) => {
      const isOver = this.#state === 'stopped' || (this.#state === 'draining' && !outlivesDrain);
      if (isOver) return reject(new FleetStopped());
      if (sleeper !== undefined && this.#woken.delete(sleeper)) return resolve();
      let timer: Timer | undefined;
      const end = (): void => {
        timer?.cancel();
        this.#stops.delete(stop);
        if (sleeper !== undefined) this.#wakes.delete(sleeper);
        if (worker !== undefined) this.#interrupts.delete(worker);
      };
      const interrupt = (error: Error): void => {
        end();
        reject(error);
      };
      const stop = (): void => interrupt(new FleetStopped());
      const wake = (): void => {
        end();
        resolve();
      };
      if (Number.isFinite(waitMs)) timer = this.#clock.after(waitMs, wake);
      this.#stops.set(stop, wait);
      if (sleeper !== undefined) this.#wakes.set(sleeper, wake);
      if (worker !== undefined) this.#interrupts.set(worker, interrupt);
    });
  }
}
