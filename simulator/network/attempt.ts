/** One exchange in progress: its time limit, its end, and the cause when it fails. */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import { ClientError, PowerLoss, TimeoutError, TransportError } from './errors.ts';
import type { Placed } from './in-progress.ts';

/** Sender and request, for error context. */
export interface AttemptSubject {
  readonly operation: string;
  readonly caller: string;
  /** When it was due, in monotonic milliseconds; when absent, at its start. */
  readonly plannedMs?: number | undefined;
}

/** Clock and time limit of one exchange. */
export interface AttemptLimits {
  readonly clock: Clock;
  readonly requestTimeLimitMs: number;
}

/** Tracks one exchange; its time limit begins with `extend`. Always call `end`. */
export class Attempt implements Placed {
  place: number | undefined;
  readonly subject: AttemptSubject;
  readonly #limits: AttemptLimits;
  #whenBrokenOff: (() => void) | undefined;
  readonly #startedMs: number;
  #timer: Timer | undefined;
  #brokenOffBy: 'time' | Error | undefined;
  #isHeld = false;

  constructor(subject: AttemptSubject, limits: AttemptLimits) {
    this.subject = subject;
    this.#limits = limits;
    this.#startedMs = limits.clock.monotonicMs();
  }

  /**
   * Registers a callback for a timeout or the end of the run; called at most once, and immediately
   * when it has happened already.
   */
  whenBrokenOff(act: () => void): void {
    this.#whenBrokenOff = act;
    if (this.#brokenOffBy !== undefined) act();
  }

  /**
   * Returns a signal that aborts at the timeout or the end of the run; for what follows the head of
   * a response.
   */
  signal(): AbortSignal {
    const controller = new AbortController();
    this.whenBrokenOff(() => controller.abort());
    return controller.signal;
  }

  /** Returns the time since the start. */
  elapsedMs(): number {
    return this.#limits.clock.monotonicMs() - this.#startedMs;
  }

  /** Time from when it was due until it started. */
  get latenessMs(): number {
    return Math.max(0, this.#startedMs - (this.subject.plannedMs ?? this.#startedMs));
  }

  /** Returns the time since it was due, including the time a device waited for its turn. */
  latencyMs(): number {
    return this.elapsedMs() + this.latenessMs;
  }

  /** True while received data is being processed and nothing is awaited from the server. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Stops the time limit, because received data is being processed. */
  hold(): void {
    this.#isHeld = true;
    this.#timer?.cancel();
  }

  /** Starts the time limit anew. */
  extend(): void {
    this.#isHeld = false;
    if (this.#brokenOffBy !== undefined) return;
    this.#timer?.cancel();
    this.#timer = this.#armed();
  }

  end(): void {
    this.#timer?.cancel();
  }

  /** Aborts the exchange; `faultOf` then returns this error. */
  stop(error: Error): void {
    this.#breakOff(error);
  }

  /** Returns the error as a client error. */
  errorOf(error: unknown): Error {
    if (error instanceof ClientError || error instanceof PowerLoss) return error;
    if (this.#brokenOffBy instanceof Error) return this.#brokenOffBy;
    const { operation, caller } = this.subject;
    const circumstances = { operation, caller, elapsedMs: this.elapsedMs(), cause: error };
    const reason = reasonOf(error);
    if (this.#brokenOffBy === 'time' || reason === CONNECT_TIMEOUT) {
      return new TimeoutError(this.#limits.requestTimeLimitMs, circumstances);
    }
    return new TransportError(reason, circumstances);
  }

  #armed(): Timer {
    return this.#limits.clock.after(this.#limits.requestTimeLimitMs, () => this.#breakOff('time'));
  }

  #breakOff(by: 'time' | Error): void {
    if (this.#brokenOffBy !== undefined) return;
    this.#brokenOffBy = by;
    this.#timer?.cancel();
    this.#whenBrokenOff?.();
  }
}

const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';

/** Returns the stable code of an error or of its cause, else its name. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  for (const each of [error, error.cause]) {
    if (each instanceof Error && 'code' in each && typeof each.code === 'string') {
      return each.code;
    }
  }
  return error.name;
}
