/**
 * Reports work that blocked the event loop: what it was, how long, how often. Uses real time only,
 * independent of tenant clocks.
 */
import { systemClock, type Timer } from '../fixtures/clock.ts';
import type { Log } from './pipeline/log.ts';

/** Work that blocked the event loop for longer than `STALL_MS`. */
export interface Stalls {
  readonly count: number;
  /** 0 while there was none. */
  readonly worstMs: number;
  /** The operation and request of the worst; empty while there was none. */
  readonly worstIn: string;
}

/** A request as the log names it. */
interface Work {
  readonly operation: string | undefined;
  readonly requestId?: string;
}

const STALL_MS = 100;
/** Interval of the checks for a blocked event loop. */
const PERIOD_MS = 50;
/** At most one line in that time; those in between are counted in the next. */
const LINE_EVERY_MS = 10_000;

/** The watchdog of one server. */
export class Watchdog {
  readonly #log: Pick<Log, 'warn'>;
  #stalls: Stalls = { count: 0, worstMs: 0, worstIn: '' };
  #last: Work | undefined;
  #timer: Timer | undefined;
  #lookedMs = 0;
  #cpuMs = 0;
  #lineMs = Number.NEGATIVE_INFINITY;
  #unsaid = 0;

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log;
  }

  get stalls(): Stalls {
    return this.#stalls;
  }

  /** Returns the start time of a piece of work, for `end`. */
  begin(): number {
    return systemClock.monotonicMs();
  }

  /** Must be called when a piece of work returns to the event loop. */
  end(begunMs: number, work: Work): void {
    this.#last = work;
    const nowMs = systemClock.monotonicMs();
    if (nowMs - begunMs <= STALL_MS) return;
    this.#report(nowMs - begunMs, `in ${nameOf(work)}`);
    this.#look(nowMs);
  }

  /** Starts checking for blocking work outside of the reported pieces. */
  start(): void {
    this.#timer = systemClock.every(PERIOD_MS, () => {
      const nowMs = systemClock.monotonicMs();
      const lateMs = nowMs - this.#lookedMs - PERIOD_MS;
      const last = this.#last ? `; the last one was ${nameOf(this.#last)}` : '';
      if (lateMs > STALL_MS) this.#report(lateMs, `outside any request${last}`);
      this.#look(nowMs);
    });
    // Only from here on, what the process did before is no part of its first period.
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
    // A process that was stopped, or not scheduled by the system, did not work in that time.
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

function nameOf({ operation = 'a request without an operation', requestId }: Work): string {
  return requestId === undefined ? operation : `${operation} (request ${requestId})`;
}

/** Returns the CPU time of this process, all its threads together. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
