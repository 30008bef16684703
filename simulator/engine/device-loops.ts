/**
 * Helpers for the promises of the loops of all devices. Such a promise never resolves; it rejects
 * at the end of the run.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import { ClientError, FleetStopped } from '../network/errors.ts';

/** Rejects with the first error other than FleetStopped, which ends the run early. */
export function firstFailure(loops: readonly Promise<never>[]): Promise<never> {
  return new Promise((_, reject) => {
    for (const each of loops) {
      each.catch((error: unknown) => {
        if (!(error instanceof FleetStopped)) reject(error);
      });
    }
  });
}

/** Waits until a promise settles, a time limit passes, or the signal aborts. */
export async function waitAtMost(
  clock: Clock,
  waitMs: number,
  ended: Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted) return;
  let limit: Timer | undefined;
  const timeUp = new Promise<void>((resolve) => {
    limit = clock.after(waitMs, resolve);
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([ended, timeUp]);
  limit?.cancel();
}

/**
 * Throws the first error that is a bug in the simulator.
 * @throws the error of a loop that ended neither with FleetStopped nor with ClientError
 */
export function throwOwnError(ends: readonly PromiseSettledResult<never>[]): void {
  for (const end of ends) {
    if (end.status === 'rejected' && !isExpectedEnd(end.reason)) throw end.reason;
  }
}

function isExpectedEnd(error: unknown): boolean {
  return error instanceof FleetStopped || error instanceof ClientError;
}
