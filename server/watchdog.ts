/**
 * Reports work that blocked the event loop: the request, how long, and how often. Uses system time,
 * independent of tenant clocks.
 */
import { systemClock, type Timer } from '../fixtures/base/clock.ts';
import type { Log } from './pipeline/log.ts';

/** Work that blocked the event loop for longer than `STALL_MS`. */
export interface StallLog {
  readonly count: number;
  /** Duration of the longest stall in milliseconds; 0 if there was none. */
  readonly worstMs: number;
  /** Operation and request of the longest stall; empty if there was none. */
  readonly worstIn: string;
}

/** The work that is named in the log. */
interface WatchedWork {
  readonly operation: string | undefined;
  readonly requestId?: string;
}

const STALL_MS = 100;
/** Interval in milliseconds at which the watchdog checks for a blocked event loop. */
const PERIOD_MS = 50;
/**
 * Minimum interval between log lines in milliseconds; a line contains the number of stalls since
 * the last.
 */
const LINE_EVERY_MS = 10_000;

/** The watchdog of one server. */
export class Watchdog {
  readonly #log: Pick<Log, 'warn'>;
  #stalls: StallLog = { count: 0, worstMs: 0, worstIn: '' };
  #last: WatchedWork | undefined;
  #timer: Timer | undefined;
  #lookedMs = 0;
  #cpuMs = 0;
  #lineMs = Number.NEGATIVE_INFINITY;
  #unsaid = 0;

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log;
  }

  get stalls(): StallLog {
    return this.#stalls;
  }

  /** Returns the start time of a piece of work, to be passed to `end`. */
  begin(): number {
    return systemClock.monotonicMs();
  }

  /**
   * Reports the work if it took too long. Must be called when the work returns to the event loop.
   */
  end(startedMs: number, work: WatchedWork): void {
    this.#last = work;
    const nowMs = systemClock.monotonicMs();
    if (nowMs - startedMs <= STALL_MS) return;
    this.#report(nowMs - startedMs, `in ${nameOf(work)}`);
    this.#look(nowMs);
  }

  /** Starts to check for stalls outside the work passed to `end`. */
  start(): void {
    this.#timer = systemClock.every(PERIOD_MS, () => {
      const nowMs = systemClock.monotonicMs();
      const lateMs = nowMs - this.#lookedMs - PERIOD_MS;
      const last = this.#last ? `; the last one was ${nameOf(this.#last)}` : '';
      if (lateMs > STALL_MS) this.#report(lateMs, `outside any request${last}`);
      this.#look(nowMs);
    });
    // Excludes the time before the start from the first period.
    this.#look(systemClock.monotonicMs());
  }

  close(): void {
    this.#timer?.cancel();
  }

  #look(nowMs: number): void {
    this.#lookedMs = nowMs;
    if (this.#timer) this.#cpuMs = cpuMs();
  }

  #report(tookMs: number, where: string): void {
    // A process that was suspended or not scheduled used no CPU time, and did not block the event
    // loop.
    const stoodMs = Math.round(this.#timer ? Math.min(tookMs, cpuMs() - this.#cpuMs) : tookMs);
    if (stoodMs <= STALL_MS) return;
    const { count, worstMs, worstIn } = this.#stalls;
    const isWorst = stoodMs > worstMs;
    this.#stalls = {
      count: count + 1,
      worstMs: isWorst ? stoodMs : worstMs,
      worstIn: isWorst ? where : worstIn,
    };
    const nowMs = systemClock.monotonicMs();
    if (nowMs - this.#lineMs < LINE_EVERY_MS) {
      this.#unsaid += 1;
      return;
    }
    const more = this.#unsaid > 0 ? ` (${this.#unsaid} more since the last such line)` : '';
    this.#log.warn(`the event loop stalled for ${stoodMs} ms ${where}${more}`);
    this.#lineMs = nowMs;
    this.#unsaid = 0;
  }
}

function nameOf({ operation = 'a request without an operation', requestId }: WatchedWork): string {
  return requestId === undefined ? operation : `${operation} (request ${requestId})`;
}

/** Returns the CPU time of all threads of this process, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
