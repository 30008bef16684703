/** The rules for retries: which errors are retried, how long to wait, and when to give up. */
import { ClientError, StatusError } from '../network/errors.ts';
import { backOffMs } from '../network/retry-after.ts';
import type { SimulatedDevice } from './device.ts';
import { sleepUntilDue } from './device-time.ts';
import type { DeviceEnvironment } from './environment.ts';
import { DeviceHookContext } from './hook-context.ts';

/** Number of attempts to send one report before the device gives up. */
export const ATTEMPTS_MAX = 20;

/** Shortest wait between two attempts, whatever a behaviour requests. */
export const WAIT_MIN_MS = 10;

/** Returns true when the server refused to issue a token because the device is not accepted. */
export function isRefusedContact(error: unknown): error is StatusError {
  return (
    error instanceof StatusError &&
    error.operation === 'post-auth-request' &&
    (error.status === 401 || error.status === 403)
  );
}

/** Returns true when the request may succeed later, including after the device is accepted. */
export function isTransient(error: unknown): error is ClientError {
  return error instanceof ClientError && (error.isTransient || isRefusedContact(error));
}

/**
 * Returns the wait after an error: the wait that the server requests, if the device obeys it, or
 * else the device's back-off. A behaviour can override either.
 * @param attempt number of consecutive errors, 1 after the first
 */
export function waitAfterMs(
  error: ClientError,
  attempt: number,
  {
    device,
    environment,
  }: { readonly device: SimulatedDevice; readonly environment: DeviceEnvironment },
): number {
  const defaultMs = defaultWaitMs(error, attempt, { device, environment });
  const { hooks } = device.behaviour;
  if (hooks.waitAfterErrorMs === undefined) return defaultMs;
  const statusError = error instanceof StatusError ? error : undefined;
  const failedAttempt = {
    status: statusError?.status,
    retryAfterMs: statusError?.retryAfterMs,
    attempt,
  };
  const waitMs = hooks.waitAfterErrorMs(
    new DeviceHookContext(device, environment),
    failedAttempt,
    defaultMs,
  );
  return Math.max(WAIT_MIN_MS, waitMs);
}

function defaultWaitMs(
  error: ClientError,
  attempt: number,
  {
    device,
    environment,
  }: { readonly device: SimulatedDevice; readonly environment: DeviceEnvironment },
): number {
  const { backOff } = device.cohort.policy;
  const retryAfterMs = error instanceof StatusError ? error.retryAfterMs : undefined;
  if (retryAfterMs !== undefined && backOff.obeysRetryAfter) return retryAfterMs;
  const chance = environment.random.stream(`device/${device.index}/back-off/${attempt}`);
  return backOffMs(attempt, backOff, chance);
}

/**
 * Repeats an action until it succeeds, with waits in between. Use it for requests that affect the
 * outcome of an update. Every failed attempt is counted.
 * @throws ClientError for an error that is not transient, or after `ATTEMPTS_MAX` attempts;
 *   FleetStopped
 */
export async function withRetries<Result>(
  device: SimulatedDevice,
  environment: DeviceEnvironment,
  callback: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await callback();
    } catch (error) {
      if (!isTransient(error) || attempt === ATTEMPTS_MAX) throw error;
      environment.metrics.countError(error);
      await sleepUntilDue(
        device,
        environment,
        waitAfterMs(error, attempt, { device, environment }),
      );
    }
  }
}

/**
 * Runs an action that does not affect any update. If the server refuses its request, the refusal is
 * counted and ignored.
 * @throws ClientError when the server cannot be reached or requests a back-off, which ends the
 *   cycle; FleetStopped
 */
export async function runInBackground(
  { metrics }: DeviceEnvironment,
  callback: () => Promise<void>,
): Promise<void> {
  try {
    await callback();
  } catch (error) {
    const isRefused =
      error instanceof ClientError && !error.isTransient && !isRefusedContact(error);
    if (!isRefused) throw error;
    metrics.countError(error);
  }
}
