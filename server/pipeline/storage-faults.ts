/**
 * Writes that the disk does not take: the caller hears 507, and the log one line a minute. They
 * are no fault of the request, and what only reads goes on.
 */
import type { Clock } from '../../fixtures/clock.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import { storageFault } from '../store/storage-fault.ts';
import type { Log } from './log.ts';

const QUIET_MS = 60_000;

/** Turns the disk's faults into refusals. */
export class StorageFaults {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #folder: string;
  #loggedMs = Number.NEGATIVE_INFINITY;

  /** @param folder where everything is written */
  constructor({ log, clock, folder }: { log: Log; clock: Clock; folder: string }) {
    this.#log = log;
    this.#clock = clock;
    this.#folder = folder;
  }

  /** The answer to a write that the disk did not take; nothing for every other fault. */
  refusalOf(fault: unknown): Refusal | undefined {
    const told = storageFault(fault);
    if (told === undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#loggedMs >= QUIET_MS) {
      this.#loggedMs = nowMs;
      this.#log.error(`${told} ${this.#folder}: writes are answered with 507, reads still work`);
    }
    return refuse.insufficientStorage();
  }
}
