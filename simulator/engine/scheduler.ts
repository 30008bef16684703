/** The waits of a run, which all end when the run ends. */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import { FleetStopped } from '../network/errors.ts';
import { InProgress, type ItemInProgress } from '../network/in-progress.ts';

/** The properties of a wait. */
interface Wait {
  readonly waitMs: number;
  readonly sleeper?: object | undefined;
  /** Key of the work that the wait is part of, with which `interrupt` can end it. */
  readonly worker?: object | undefined;
  readonly outlivesDrain: boolean;
}

/** A device that waits, and how its wait can be ended early. */
interface WaitInProgress extends ItemInProgress {
  readonly outlivesDrain: boolean;
  /** Ends the wait as if its time had passed. */
  readonly wake: () => void;
  readonly interrupt: (error: Error) => void;
}

/** All waits of a run. `stop` ends them with FleetStopped. */
export class Scheduler {
  readonly #clock: Clock;
  readonly #begun = new InProgress<WaitInProgress>();
  /**
   * Waits by sleeper and by worker. Entries stay after their waits end, to avoid the cost of
   * changing maps that `InProgress` explains.
   */
  readonly #sleeping = new Map<object, WaitInProgress | undefined>();
  readonly #working = new Map<object, WaitInProgress | undefined>();
  /** Sleepers that were woken while not waiting. */
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
   * Waits for a time.
   * @param waitMs milliseconds; Infinity waits until the end of the run
   * @param sleeper key with which `wake` can end the wait early
   * @throws FleetStopped when the run has ended, or ends during the wait
   */
  sleep(waitMs: number, sleeper?: object): Promise<void> {
    return this.#begin({ waitMs, sleeper, outlivesDrain: false });
  }

  /**
   * Waits in the middle of a worker's work. `interrupt` can end the wait early.
   * @param outlivesDrain true when the work should finish while the run drains
   * @throws FleetStopped when the run has ended, or ends during the wait; the error given to
   *   `interrupt`
   */
  restInterruptibly(waitMs: number, worker: object, outlivesDrain: boolean): Promise<void> {
    return this.#begin({ waitMs, worker, outlivesDrain });
  }

  /**
   * Waits without the possibility to wake or interrupt, for a device that is off.
   * @param outlivesDrain true when the wait is part of work that should finish while the run drains
   * @throws FleetStopped when the run has ended, or ends during the wait
   */
  restUninterruptibly(waitMs: number, outlivesDrain: boolean): Promise<void> {
    return this.#begin({ waitMs, outlivesDrain });
  }

  /** Ends the sleeper's wait at once. If it is not waiting, its next wait ends at once. */
  wake(sleeper: object): void {
    const sleeping = this.#sleeping.get(sleeper);
    if (sleeping) sleeping.wake();
    else this.#woken.add(sleeper);
  }

  /** Ends the wait of the worker with an error, if it is waiting. */
  interrupt(worker: object, error: Error): void {
    this.#working.get(worker)?.interrupt(error);
  }

  /** Ends all waits and all later ones, except the waits in work that should finish. */
  drain(): void {
    if (this.#state === 'open') this.#state = 'draining';
    for (const { outlivesDrain, interrupt } of this.#begun.list()) {
      if (!outlivesDrain) interrupt(new FleetStopped());
    }
  }

  /** Ends all waits and all later ones. */
  stop(): void {
    this.#state = 'stopped';
    for (const { interrupt } of this.#begun.list()) interrupt(new FleetStopped());
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
        this.#begun.delete(waitInProgress);
        if (sleeper !== undefined) this.#sleeping.set(sleeper, undefined);
        if (worker !== undefined) this.#working.set(worker, undefined);
      };
      const waitInProgress: WaitInProgress = {
        position: undefined,
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
      if (Number.isFinite(waitMs)) timer = this.#clock.after(waitMs, waitInProgress.wake);
      this.#begun.add(waitInProgress);
      if (sleeper !== undefined) this.#sleeping.set(sleeper, waitInProgress);
      if (worker !== undefined) this.#working.set(worker, waitInProgress);
    });
  }
}
