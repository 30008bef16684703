/** One exchange on its way: its time limit, its end, and the cause when it fails. */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import { ClientError, PowerLoss, TimeoutError, TransportError } from './errors.ts';

/** Who sends what, for the fault's circumstances. */
export interface AttemptSubject {
  readonly operation: string;
  readonly caller: string;
  /** When it was due, in monotonic milliseconds; absent: when it begins. */
  readonly plannedMs?: number | undefined;
}

/** Time and its limit for one exchange. */
export interface AttemptLimits {
  readonly clock: Clock;
  readonly requestTimeLimitMs: number;
}

/** Keeps the time of one exchange; `end` it in any case. */
export class Attempt {
  readonly subject: AttemptSubject;
  readonly #limits: AttemptLimits;
  #whenBrokenOff: (() => void) | undefined;
  readonly #startedMs: number;
  #timer: Timer;
  #brokenOffBy: 'time' | Error | undefined;
  #isHeld = false;

  constructor(subject: AttemptSubject, limits: AttemptLimits) {
    this.subject = subject;
    this.#limits = limits;
    this.#startedMs = limits.clock.monotonicMs();
    this.#timer = this.#armed();
  }

  /** Called at most once, when the time is up or the run is over; at once when it was before. */
  whenBrokenOff(act: () => void): void {
    this.#whenBrokenOff = act;
    if (this.#brokenOffBy !== undefined) act();
  }

  /** Aborts when the time is up or the run is over; for what goes on after the head of an answer. */
  signal(): AbortSignal {
    const controller = new AbortController();
    this.whenBrokenOff(() => controller.abort());
    return controller.signal;
  }

  /** Since it began. */
  elapsedMs(): number {
    return this.#limits.clock.monotonicMs() - this.#startedMs;
  }

  /** Between the moment at which it was due and the one at which it began. */
  get latenessMs(): number {
    return Math.max(0, this.#startedMs - (this.subject.plannedMs ?? this.#startedMs));
  }

  /** Since it was due: what a device that waits for its turn has waited, too. */
  latencyMs(): number {
    return this.elapsedMs() + this.latenessMs;
  }

  /** Whether what has come is being looked at: nothing is asked of the server meanwhile. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Stops the time limit, because something has come that is now looked at. */
  hold(): void {
    this.#isHeld = true;
    this.#timer.cancel();
  }

  /** Starts the time limit anew. */
  extend(): void {
    this.#isHeld = false;
    if (this.#brokenOffBy !== undefined) return;
    this.#timer.cancel();
    this.#timer = this.#armed();
  }

  end(): void {
    this.#timer.cancel();
  }

  /** Breaks it off; `faultOf` then is this error. */
  stop(error: Error): void {
    this.#breakOff(error);
  }

  /** The fault in the client's own terms. */
  faultOf(error: unknown): Error {
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
    this.#timer.cancel();
    this.#whenBrokenOff?.();
  }
}

const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';

/** The stable code of a fault, its own or that of its cause; its name where there is no code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  for (const fault of [error, error.cause]) {
    if (fault instanceof Error && 'code' in fault && typeof fault.code === 'string') {
      return fault.code;
    }
  }
  return error.name;
}
