/** One exchange in progress: its time limit, its end, and the error when it fails. */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import { ClientError, PowerLoss, TimeoutError, TransportError } from './errors.ts';
import type { ItemInProgress } from './in-progress.ts';

/** The operation and the caller of an exchange, for its errors and metrics. */
export interface AttemptSubject {
  readonly operation: string;
  readonly caller: string;
  /** When the exchange was due, in monotonic milliseconds; without a value, when it started. */
  readonly dueMs?: number | undefined;
}

/** Clock and time limit of one exchange. */
export interface AttemptLimits {
  readonly clock: Clock;
  readonly requestTimeLimitMs: number;
}

/**
 * Tracks one exchange. The time limit starts with `restartTimeLimit`. The owner must call `end`.
 */
export class Attempt implements ItemInProgress {
  position: number | undefined;
  readonly subject: AttemptSubject;
  readonly #limits: AttemptLimits;
  #onAborted: (() => void) | undefined;
  readonly #startedMs: number;
  #sentMs: number | undefined;
  #timer: Timer | undefined;
  #abortCause: 'time' | Error | undefined;
  #isTimeLimitPaused = false;

  constructor(subject: AttemptSubject, limits: AttemptLimits) {
    this.subject = subject;
    this.#limits = limits;
    this.#startedMs = limits.clock.monotonicMs();
  }

  /**
   * Registers a callback for the moment when the time limit expires or the run ends. The callback
   * runs at most once, and immediately when that moment has passed.
   */
  onAbort(callback: () => void): void {
    this.#onAborted = callback;
    if (this.#abortCause !== undefined) callback();
  }

  /**
   * Returns a signal that aborts when the time limit expires or the run ends. It also covers the
   * body that follows the head of a response.
   */
  signal(): AbortSignal {
    const controller = new AbortController();
    this.onAbort(() => controller.abort());
    return controller.signal;
  }

  /** Returns the milliseconds since the exchange started. */
  elapsedMs(): number {
    return this.#limits.clock.monotonicMs() - this.#startedMs;
  }

  /** Milliseconds between the time when the exchange was due and its start. */
  get latenessMs(): number {
    return Math.max(0, this.#startedMs - (this.subject.dueMs ?? this.#startedMs));
  }

  /** Returns the milliseconds since the exchange was due, including any wait before its start. */
  latencyMs(): number {
    return this.elapsedMs() + this.latenessMs;
  }

  /** Records that the request is now written to a connection. */
  recordSent(): void {
    this.#sentMs = this.#limits.clock.monotonicMs();
  }

  /**
   * Returns the part of the latency before the request was written to a connection: the lateness,
   * and the wait for a free or a new connection. A request to a server in the same process waits
   * for no connection.
   */
  waitingMs(): number {
    return this.latenessMs + (this.#sentMs ?? this.#startedMs) - this.#startedMs;
  }

  /** True while the device processes received data and waits for nothing from the server. */
  get isTimeLimitPaused(): boolean {
    return this.#isTimeLimitPaused;
  }

  /** Pauses the time limit while the device processes received data. */
  pauseTimeLimit(): void {
    this.#isTimeLimitPaused = true;
    this.#timer?.cancel();
  }

  /** Restarts the time limit. */
  restartTimeLimit(): void {
    this.#isTimeLimitPaused = false;
    if (this.#abortCause !== undefined) return;
    this.#timer?.cancel();
    this.#timer = this.#startTimer();
  }

  end(): void {
    this.#timer?.cancel();
  }

  /** Aborts the exchange; `errorOf` then returns this error. */
  stop(error: Error): void {
    this.#abort(error);
  }

  /**
   * Returns the error to throw for a failed exchange: a client error, or the error given to `stop`.
   */
  errorOf(error: unknown): Error {
    if (error instanceof ClientError || error instanceof PowerLoss) return error;
    if (this.#abortCause instanceof Error) return this.#abortCause;
    const { operation, caller } = this.subject;
    const circumstances = { operation, caller, elapsedMs: this.elapsedMs(), cause: error };
    const reason = reasonOf(error);
    if (this.#abortCause === 'time' || reason === CONNECT_TIMEOUT) {
      return new TimeoutError(this.#limits.requestTimeLimitMs, circumstances);
    }
    return new TransportError(reason, circumstances);
  }

  #startTimer(): Timer {
    return this.#limits.clock.after(this.#limits.requestTimeLimitMs, () => this.#abort('time'));
  }

  #abort(cause: 'time' | Error): void {
    if (this.#abortCause !== undefined) return;
    this.#abortCause = cause;
    this.#timer?.cancel();
    this.#onAborted?.();
  }
}

const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';

/**
 * Returns the code of an error or of its cause. Returns the error's name when neither has a code.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  for (const each of [error, error.cause]) {
    if (each instanceof Error && 'code' in each && typeof each.code === 'string') {
      return each.code;
    }
  }
  return error.name;
}
