/**
 * Handles Ctrl-C and SIGTERM: the first signal ends a run with its summary, a later one ends the
 * process.
 */
import { setMaxListeners } from 'node:events';
import { exitCodes } from './exit-codes.ts';

/**
 * Returns a signal that aborts at the first SIGINT or SIGTERM. A second one exits the process with
 * code 130.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  abortInTurn([stop]);
  return stop.signal;
}

/**
 * Returns signals for a run that drains: the first SIGINT or SIGTERM aborts `signal`, the second
 * aborts `forceStop`, the third exits the process.
 */
export function stopSignals(): { readonly signal: AbortSignal; readonly forceStop: AbortSignal } {
  const [stop, forceStop] = [new AbortController(), new AbortController()];
  abortInTurn([stop, forceStop]);
  return { signal: stop.signal, forceStop: forceStop.signal };
}

function abortInTurn(steps: readonly AbortController[]): void {
  // Every running case adds a listener; Node would report that many as a leak.
  for (const { signal } of steps) setMaxListeners(0, signal);
  const onSignal = (): void => {
    const next = steps.find(({ signal }) => !signal.aborted);
    if (next === undefined) process.exit(exitCodes.interrupted);
    next.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}

/** Resolves once the signal has aborted, or immediately if it already has. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
