/** How long it took until a given number of devices was updated. */
import type { FleetResult } from './result.ts';

/** A point in time of the roll-out. */
interface UpdateMoment {
  /**
   * Milliseconds since the deployment was created, or since the first offer where that is unknown.
   */
  readonly afterMs: number;
  /** Number of devices that were updated by then. */
  readonly updated: number;
}

/** The roll-out over time: when each device was updated. */
export interface UpdateTimes {
  /** Devices that could have been updated: the whole fleet of the result. */
  readonly devices: number;
  /** One for each device that was updated, in order. */
  readonly moments: readonly UpdateMoment[];
}

/**
 * Reads the roll-out from the devices; devices that already had the artifact count from the start.
 */
export function updateTimes(result: FleetResult): UpdateTimes {
  const { devices } = result;
  const offers = devices.flatMap(({ offeredMs }) => offeredMs ?? []);
  const startMs =
    result.deployedMs ?? offers.reduce((one, other) => Math.min(one, other), Infinity);
  const ends = devices.flatMap(({ outcome, endedMs }) => {
    if (outcome === 'already-installed') return endedMs ?? startMs;
    return outcome === 'success' ? (endedMs ?? []) : [];
  });
  const moments = ends
    .filter(Number.isFinite)
    .map((endMs) => Math.max(0, endMs - startMs))
    .sort((one, other) => one - other)
    .map((afterMs, before) => ({ afterMs, updated: before + 1 }));
  return { devices: devices.length, moments };
}

/**
 * Returns the milliseconds until `percent` of the devices were updated; undefined when that was
 * never reached.
 */
export function timeToPercentMs(
  { devices, moments }: UpdateTimes,
  percent: number,
): number | undefined {
  const needed = Math.ceil((devices * percent) / 100);
  return needed === 0 ? undefined : moments[needed - 1]?.afterMs;
}
