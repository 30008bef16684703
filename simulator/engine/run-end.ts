/** The end of a run and its reason: duration, interruption, coordinator, or an explicit reason. */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { EndReason } from '../result/result.ts';
import type { CoordinatorConnection } from './coordinator-connection.ts';

/** Minimum remaining time of a restarted shard in milliseconds, however late it starts. */
const LATE_MIN_MS = 5000;

interface RunLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly coordinator: CoordinatorConnection | undefined;
  readonly durationMs: number | undefined;
  /** Milliseconds since the common start of the other shards. */
  readonly lateMs: number;
}

/** The end of one run. Only the first reason counts. */
export class RunEnd {
  readonly reason: Promise<EndReason>;
  /** Ends the run now, for this reason. */
  readonly endNow: (reason: EndReason) => void;
  /** Cancels the timer and removes the listener. */
  readonly forget: () => void;

  constructor({ clock, signal, coordinator, durationMs, lateMs }: RunLimits) {
    let finish: (reason: EndReason) => void = () => undefined;
    this.reason = new Promise((resolve) => {
      finish = resolve;
    });
    this.endNow = finish;
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
