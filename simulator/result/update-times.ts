/** Computes how long it took to update a given number of devices. */
import type { FleetResult } from './result.ts';

/** The number of updated devices at a point in time. */
interface UpdateCount {
  /**
   * Milliseconds since the deployment was created, or since the first offer when that time is
   * unknown.
   */
  readonly afterMs: number;
  /** Number of devices that were updated by then. */
  readonly updated: number;
}

/** The progress of a roll-out: when each device was updated. */
export interface UpdateTimes {
  /** Number of devices in the result. */
  readonly devices: number;
  /** One row for each updated device, in chronological order. */
  readonly points: readonly UpdateCount[];
}

/**
 * Returns the times at which the devices were updated. A device that already had the artifact and
 * has no end time counts from the start.
 */
export function updateTimes(result: FleetResult): UpdateTimes {
  const { devices } = result;
  const offers = devices.flatMap(({ offeredMs }) => offeredMs ?? []);
  const startMs =
    result.deployedMs ?? offers.reduce((one, other) => Math.min(one, other), Infinity);
  const ends = devices.flatMap(({ outcome, finishedMs }) => {
    if (outcome === 'already-installed') return finishedMs ?? startMs;
    return outcome === 'success' ? (finishedMs ?? []) : [];
  });
  const points = ends
    .filter(Number.isFinite)
    .map((endMs) => Math.max(0, endMs - startMs))
    .sort((one, other) => one - other)
    .map((afterMs, index) => ({ afterMs, updated: index + 1 }));
  return { devices: devices.length, points };
}

/**
 * Returns the milliseconds until `percent` percent of the devices were updated; undefined when that
 * percentage was not reached.
 */
export function timeToPercentMs(
  { devices, points }: UpdateTimes,
  percent: number,
): number | undefined {
  const neededCount = Math.ceil((devices * percent) / 100);
  return neededCount === 0 ? undefined : points[neededCount - 1]?.afterMs;
}
