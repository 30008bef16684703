/** The waits of a run, which all end with it. */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import { FleetStopped } from '../network/errors.ts';

/** One who waits, and whose wait it is. */
interface Wait {
  readonly waitMs: number;
  readonly sleeper?: object | undefined;
  /** In the middle of whose work it is. */
  readonly worker?: object | undefined;
  readonly outlivesDrain: boolean;
}

/** Everyone who waits; `stop` wakes them all with FleetStopped. */
export class Scheduler {
  readonly #clock: Clock;
  readonly #stops = new Map<() => void, { readonly outlivesDrain: boolean }>();
  readonly #wakes = new Map<object, () => void>();
  readonly #interrupts = new Map<object, (error: Error) => void>();
  /** Those who were woken while they did not rest. */
  readonly #woken = new Set<object>();
  #state: 'open' | 'draining' | 'stopped' = 'open';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get stopped(): boolean {
    return this.#state === 'stopped';
  }

  /** Rests that go on. */
  get count(): number {
    return this.#stops.size;
  }

  /**
   * @param waitMs Infinity: until the end of the run
   * @param sleeper whom `wake` may wake before the time is up
   * @throws FleetStopped when the run is over, or ends during the wait
   */
  rest(waitMs: number, sleeper?: object): Promise<void> {
    return this.#begun({ waitMs, sleeper, outlivesDrain: false });
  }

  /**
   * A wait in the middle of somebody's work, which `interrupt` may break off.
   * @param outlivesDrain whether the work is to be finished when the run drains
   * @throws FleetStopped likewise; the error of the interruption
   */
  restAmidst(waitMs: number, worker: object, outlivesDrain: boolean): Promise<void> {
    return this.#begun({ waitMs, worker, outlivesDrain });
  }

  /**
   * A wait that nobody breaks off, because who waits hears of nothing.
   * @param outlivesDrain whether it belongs to work that is to be finished when the run drains
   * @throws FleetStopped likewise
   */
  restUnheard(waitMs: number, outlivesDrain: boolean): Promise<void> {
    return this.#begun({ waitMs, outlivesDrain });
  }

  /** Ends the sleeper's rest now; when he does not rest, his next one ends as it begins. */
  wake(sleeper: object): void {
    const wake = this.#wakes.get(sleeper);
    if (wake) wake();
    else this.#woken.add(sleeper);
  }

  /** Breaks the wait off in which the worker is, if he is in one. */
  interrupt(worker: object, error: Error): void {
    this.#interrupts.get(worker)?.(error);
  }

  /** Ends every wait but those amidst work that is to be finished, and every later one at once. */
  drain(): void {
    if (this.#state === 'open') this.#state = 'draining';
    for (const [stop, { outlivesDrain }] of this.#stops) if (!outlivesDrain) stop();
  }

  /** Ends every wait, and every later one at once. */
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
