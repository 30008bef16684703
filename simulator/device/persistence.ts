/** Retries: which errors are retried, how long to wait, and when to give up. */
import { ClientError, StatusError } from '../network/errors.ts';
import { backOffMs } from '../network/retry-after.ts';
import type { Device } from './device.ts';
import { restUntilDue } from './device-time.ts';
import type { DeviceEnvironment } from './environment.ts';
import { DeviceHookContext } from './hook-context.ts';

/** Attempts to send one report before the device gives it up. */
export const triesMax = 20;

/** No behaviour retries faster than this. */
export const WAIT_MIN_MS = 10;

/** Returns true when the server did not grant a token: the device is not accepted, or no longer. */
export function isRefusedContact(error: unknown): error is StatusError {
  return (
    error instanceof StatusError &&
    error.operation === 'post-auth-request' &&
    (error.status === 401 || error.status === 403)
  );
}

/** Returns true when the same request may succeed later. */
export function isTransient(error: unknown): error is ClientError {
  return error instanceof ClientError && (error.passing || isRefusedContact(error));
}

/**
 * Returns the wait after an error: as long as the server asks, where the device obeys, else by its
 * back-off.
 * @param attempt 1 after the first error in a row
 */
export function waitAfterMs(
  error: ClientError,
  attempt: number,
  { device, environment }: { readonly device: Device; readonly environment: DeviceEnvironment },
): number {
  const defaultMs = defaultWaitMs(error, attempt, { device, environment });
  const { hooks } = device.behaviour;
  if (hooks.waitAfterErrorMs === undefined) return defaultMs;
  const refused = error instanceof StatusError ? error : undefined;
  const failed = { status: refused?.status, retryAfterMs: refused?.retryAfterMs, attempt };
  const waitMs = hooks.waitAfterErrorMs(
    new DeviceHookContext(device, environment),
    failed,
    defaultMs,
  );
  return Math.max(WAIT_MIN_MS, waitMs);
}

function defaultWaitMs(
  error: ClientError,
  attempt: number,
  { device, environment }: { readonly device: Device; readonly environment: DeviceEnvironment },
): number {
  const { backOff } = device.cohort.policy;
  const asked = error instanceof StatusError ? error.retryAfterMs : undefined;
  if (asked !== undefined && backOff.obeysRetryAfter) return asked;
  const chance = environment.random.stream(`device/${device.index}/back-off/${attempt}`);
  return backOffMs(attempt, backOff, chance);
}

/**
 * Repeats an action until it succeeds, with waits in between; for what affects the outcome of an
 * update. Every failed attempt is counted.
 * @throws ClientError when a retry is pointless, or after `triesMax` attempts; FleetStopped
 */
export async function withRetries<Result>(
  device: Device,
  environment: DeviceEnvironment,
  act: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      if (!isTransient(error) || attempt === triesMax) throw error;
      environment.metrics.countError(error);
      await restUntilDue(device, environment, waitAfterMs(error, attempt, { device, environment }));
    }
  }
}

/**
 * Runs an action that no update depends on: a refusal is counted and ignored. A server that cannot
 * be reached, or that asks to back off, ends the whole cycle.
 * @throws ClientError in that case; FleetStopped
 */
export async function inBackground(
  { metrics }: DeviceEnvironment,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    const refused = error instanceof ClientError && !error.passing && !isRefusedContact(error);
    if (!refused) throw error;
    metrics.countError(error);
  }
}
