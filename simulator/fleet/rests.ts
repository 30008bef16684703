/** The waits of a run, which all end with it. */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import { FleetStopped } from '../stopped.ts';

/** Everyone who waits; `stop` wakes them all with FleetStopped. */
export class Rests {
  readonly #clock: Clock;
  readonly #stops = new Set<() => void>();
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** @throws FleetStopped when the run is over, or ends during the wait */
  rest(waitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) return reject(new FleetStopped());
      let timer: Timer | undefined;
      const stop = (): void => {
        timer?.cancel();
        reject(new FleetStopped());
      };
      timer = this.#clock.after(waitMs, () => {
        this.#stops.delete(stop);
        resolve();
      });
      this.#stops.add(stop);
    });
  }

  /** Ends every wait, and every later one at once. */
  stop(): void {
    this.#stopped = true;
    for (const stop of this.#stops) stop();
    this.#stops.clear();
  }
}
