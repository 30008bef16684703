/** When a run ends, and why: its duration, an interruption, its coordinator, or a reason given. */
import type { Clock } from '../../fixtures/clock.ts';
import type { Ended } from '../result/result.ts';
import type { CoordinatorLink } from './coordinator-link.ts';

/** Least remaining time of a restarted shard, however late it is. */
const LATE_MIN_MS = 5000;

interface Limits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly coordinator: CoordinatorLink | undefined;
  readonly durationMs: number | undefined;
  /** How long the run of the other shards has lasted already. */
  readonly lateMs: number;
}

/** The end of one run; only the first reason counts. */
export class RunEnd {
  readonly reason: Promise<Ended>;
  /** Ends the run now, for this reason. */
  readonly now: (because: Ended) => void;
  /** Stops the timer and the listener. */
  readonly forget: () => void;

  constructor({ clock, signal, coordinator, durationMs, lateMs }: Limits) {
    let finish: (because: Ended) => void = () => undefined;
    this.reason = new Promise((resolve) => {
      finish = resolve;
    });
    this.now = finish;
    coordinator?.ended.then(finish);
    const interrupt = (): void => finish('interrupted');
    if (signal.aborted) interrupt();
    signal.addEventListener('abort', interrupt, { once: true });
    const leftMs = durationMs && Math.max(durationMs - lateMs, Math.min(durationMs, LATE_MIN_MS));
    const timer = leftMs === undefined ? undefined : clock.after(leftMs, () => finish('duration'));
    this.forget = (): void => {
      timer?.cancel();
      signal.removeEventListener('abort', interrupt);
    };
  }
}
