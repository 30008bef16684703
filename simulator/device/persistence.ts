/** Trying again: which faults are worth it, how long to wait, and when to give up. */
import { ClientError, StatusError } from '../client/errors.ts';
import { backOffMs } from '../client/retry-after.ts';
import type { Device } from './device.ts';
import type { World } from './world.ts';

/** Tries of one report before the device gives it up. */
export const triesMax = 20;

/** Whether the server did not grant the device a token: it is not accepted, or no longer. */
export function isRefusedContact(error: unknown): error is StatusError {
  return (
    error instanceof StatusError &&
    error.operation === 'post-auth-request' &&
    (error.status === 401 || error.status === 403)
  );
}

/**
 * How long to wait after a fault: as long as the server asks, where the device obeys, else by its
 * back-off.
 * @param attempt 1 after the first fault in a row
 */
export function waitAfterMs(
  error: ClientError,
  attempt: number,
  { device, world }: { readonly device: Device; readonly world: World },
): number {
  const { backOff } = device.cohort.policy;
  const asked = error instanceof StatusError ? error.retryAfterMs : undefined;
  if (asked !== undefined && backOff.obeysRetryAfter) return asked;
  const chance = world.random.stream(`device/${device.index}/back-off/${attempt}`);
  return backOffMs(attempt, backOff, chance);
}

/**
 * Does something until it succeeds, with waits between the tries; for what matters to the outcome
 * of an update. Every failed try is counted.
 * @throws ClientError when it is not worth another try, or after `triesMax` of them; FleetStopped
 */
export async function persistently<Result>(
  device: Device,
  world: World,
  act: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const worthwhile = error.passing || isRefusedContact(error);
      if (!worthwhile || attempt === triesMax) throw error;
      world.ledger.fault(error);
      await world.rest(waitAfterMs(error, attempt, { device, world }));
    }
  }
}
