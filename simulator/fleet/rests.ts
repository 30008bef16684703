/** The waits of a run, which all end with it. */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import { FleetStopped } from '../stopped.ts';

/** Everyone who waits; `stop` wakes them all with FleetStopped. */
export class Rests {
  readonly #clock: Clock;
  readonly #stops = new Set<() => void>();
  readonly #wakes = new Map<object, () => void>();
  /** Those who were woken while they did not rest. */
  readonly #woken = new Set<object>();
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Rests that go on. */
  get count(): number {
    return this.#stops.size;
  }

  /**
   * @param sleeper whom `wake` may wake before the time is up
   * @throws FleetStopped when the run is over, or ends during the wait
   */
  rest(waitMs: number, sleeper?: object): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) return reject(new FleetStopped());
      if (sleeper !== undefined && this.#woken.delete(sleeper)) return resolve();
      let timer: Timer | undefined;
      const stop = (): void => {
        timer?.cancel();
        reject(new FleetStopped());
      };
      const wake = (): void => {
        timer?.cancel();
        this.#stops.delete(stop);
        if (sleeper !== undefined) this.#wakes.delete(sleeper);
        resolve();
      };
      timer = this.#clock.after(waitMs, wake);
      this.#stops.add(stop);
      if (sleeper !== undefined) this.#wakes.set(sleeper, wake);
    });
  }

  /** Ends the sleeper's rest now; when he does not rest, his next one ends as it begins. */
  wake(sleeper: object): void {
    const wake = this.#wakes.get(sleeper);
    if (wake) wake();
    else this.#woken.add(sleeper);
  }

  /** Ends every wait, and every later one at once. */
  stop(): void {
    this.#stopped = true;
    for (const stop of this.#stops) stop();
    this.#stops.clear();
  }
}
