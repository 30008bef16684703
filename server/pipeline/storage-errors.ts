/**
 * Handles failed disk writes: the caller receives 507, and the log at most one line a minute. Such
 * an error is not caused by the request, and reads continue to work.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import { filesRemoved, storageProblem } from '../store/engine/storage-error.ts';
import type { Log } from './log.ts';

const QUIET_MS = 60_000;

/** Converts disk errors into refusals. */
export class StorageErrors {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #folder: string;
  #loggedMs = Number.NEGATIVE_INFINITY;

  /** @param folder the data folder, for the log line */
  constructor({ log, clock, folder }: { log: Log; clock: Clock; folder: string }) {
    this.#log = log;
    this.#clock = clock;
    this.#folder = folder;
  }

  /** Returns the refusal of a write that the disk refused; undefined for every other error. */
  refusalOf(error: unknown): Refusal | undefined {
    const problem = storageProblem(error);
    if (problem === undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#loggedMs >= QUIET_MS) {
      this.#loggedMs = nowMs;
      this.#log.error(`${problem} ${this.#folder}: writes are answered with 507, reads still work`);
    }
    return problem === filesRemoved
      ? refuse.insufficientStorage("the server's files were removed; restart the server")
      : refuse.insufficientStorage();
  }
}
