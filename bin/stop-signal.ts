/** Ctrl-C and SIGTERM: the first one ends a run with its summary, the second one at once. */
import { setMaxListeners } from 'node:events';
import { exitCodes } from './exit-codes.ts';

/** Aborts at the first SIGINT or SIGTERM; a second one ends the process with 130. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  // Every case that is played at the moment listens; Node would take so many for a leak.
  setMaxListeners(0, stop.signal);
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(exitCodes.interrupted);
    stop.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return stop.signal;
}

/** Resolves once the signal has aborted, at once when it already has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
