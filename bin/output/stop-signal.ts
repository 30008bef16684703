/** Ctrl-C and SIGTERM: the first signals end a run with its summary, the next one the process. */
import { setMaxListeners } from 'node:events';
import { exitCodes } from './exit-codes.ts';

/** Aborts at the first SIGINT or SIGTERM; a second one ends the process with 130. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  abortInTurn([stop]);
  return stop.signal;
}

/**
 * Like stopSignal, for a run that drains: a second signal aborts `forceStop`, a third ends the
 * process.
 */
export function stopSignals(): { readonly signal: AbortSignal; readonly forceStop: AbortSignal } {
  const [stop, forceStop] = [new AbortController(), new AbortController()];
  abortInTurn([stop, forceStop]);
  return { signal: stop.signal, forceStop: forceStop.signal };
}

function abortInTurn(steps: readonly AbortController[]): void {
  // Every running case listens; Node would report so many listeners as a leak.
  for (const { signal } of steps) setMaxListeners(0, signal);
  const onSignal = (): void => {
    const next = steps.find(({ signal }) => !signal.aborted);
    if (next === undefined) process.exit(exitCodes.interrupted);
    next.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}

/** Resolves once the signal has aborted; immediately if it already has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
