/**
 * Exemptions of a device from its duties: a response that did not arrive, a request that began
 * before the response could have arrived, what the server did to the exchange, and interruptions.
 * Duties call this instead of deciding on their own.
 */
import type { ClientExchange, ServerEvent } from '../../fixtures/control/client-event.ts';

/**
 * How long a request may begin after a response that it does not know yet, besides a round trip.
 */
const GRACE_MS = 1000;
/** The round trip that is assumed; the server sees only its own half of each exchange. */
const ROUND_TRIP_MS = 200;

/**
 * A shorter time between two requests is too short: a second, less what a network may take from it,
 * since the server sees when requests arrive and not when they are sent.
 */
export const MIN_PAUSE_MS = 900;

/**
 * A device may repeat a request on its other connection, or in its other process, while a response
 * arrives.
 */
export const REPEATS_IN_FLIGHT_MAX = 2;

/**
 * Number of repeats that come too soon and break no duty: two may come from two processes; the
 * third is a habit.
 */
export const TOO_FREQUENT_REPEATS_MAX = 2;

/**
 * Number of too frequent polls in a row after which a further one breaks a duty: ten polls have
 * nine pauses.
 */
export const SHORT_PAUSES_MAX = 8;

/** Returns true if the device got the whole response, so that it has to act by it. */
export function hasReceivedResponse({ isDelivered, status }: ClientExchange): boolean {
  return isDelivered && status > 0;
}

/** Returns true if a request began before an earlier response could have reached the sender. */
export function isInFlight(request: { readonly sentMs: number }, answeredMs: number): boolean {
  return request.sentMs < answeredMs + ROUND_TRIP_MS + GRACE_MS;
}

/** Returns true if the server planned what the device got: a fault or a variation. */
export function isAltered({ faultsAndVariations }: ClientExchange): boolean {
  return faultsAndVariations.length > 0;
}

/** Events after which pauses and repeats of a device prove nothing about its habits. */
const interruptions: ReadonlySet<ServerEvent['event']> = new Set([
  ...(['clock-moved', 'server-restarted', 'client-started', 'client-killed'] as const),
  ...(['folder-cleaned', 'events-dropped'] as const),
]);

/** Returns true if the event interrupts the habits of the device. */
export function interruptsClient({ event }: ServerEvent): boolean {
  return interruptions.has(event);
}

/**
 * Longest time, in milliseconds, that a device may wait before it fetches a file again: those of
 * the field wait a minute.
 */
export const DOWNLOAD_RETRY_MS = 90_000;

/**
 * Milliseconds that a device has for a reaction before it counts as missing: three intervals, or
 * twice its longest pause, since pauses may grow with each failure.
 */
export function patienceMs(intervalMs: number | undefined, longestPauseMs: number): number {
  const ownPatienceMs = intervalMs === undefined ? 60_000 : 3 * intervalMs;
  return Math.max(ownPatienceMs, 2 * longestPauseMs) + GRACE_MS;
}
