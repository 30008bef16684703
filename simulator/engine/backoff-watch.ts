/** Records how the cohorts of a fleet return after a network outage. */
import type { SimulatedDevice } from '../device/device.ts';
import { type BackoffComparison, peakOf } from '../result/backoff-comparison.ts';
import { groupRows } from '../result/mergers.ts';

const SECOND_MS = 1000;
/** Seconds that are counted individually: one day. Later requests count in the last second. */
const SECONDS_MAX = 86_400;

/** An exchange of a device that has ended. */
interface FinishedExchange {
  readonly status?: number;
  readonly cause?: string;
  readonly elapsedMs: number;
}

/** Records the exchanges of each cohort from the return of the network on. */
export class BackoffWatch {
  readonly #devices: readonly SimulatedDevice[];
  readonly #perSecond = new Map<string, number[]>();
  /** Milliseconds from the return of the network to the recovery of each device. */
  readonly #recoveredMs = new Map<SimulatedDevice, number>();
  #returnedMs: number | undefined;

  constructor(devices: readonly SimulatedDevice[]) {
    this.#devices = devices;
  }

  /** Records the time at which the network returned. */
  recordReturn(nowMs: number): void {
    this.#returnedMs ??= nowMs;
  }

  /**
   * Records an exchange that has ended. An exchange that failed because of the outage was never
   * sent, so it does not count.
   */
  record(device: SimulatedDevice, exchange: FinishedExchange, nowMs: number): void {
    if (this.#returnedMs === undefined) return;
    const { status, cause, elapsedMs } = exchange;
    const sentMs = nowMs - elapsedMs - this.#returnedMs;
    if (cause === 'transport/OUTAGE') return;
    const second = Math.min(Math.max(0, Math.floor(sentMs / SECOND_MS)), SECONDS_MAX - 1);
    const counts = this.#countsOf(device.cohort.name);
    counts[second] = (counts[second] ?? 0) + 1;
    const gotThrough = status !== undefined && status < 500 && status !== 429;
    if (gotThrough && !this.#recoveredMs.has(device)) {
      this.#recoveredMs.set(device, nowMs - this.#returnedMs);
    }
  }

  /** Returns the comparison of the cohorts; undefined when the network has not returned. */
  comparison(): BackoffComparison | undefined {
    if (this.#returnedMs === undefined) return undefined;
    const cohorts = groupRows(this.#devices, ({ cohort }) => cohort.name);
    return [...cohorts].map(([cohort, devices]) => {
      // A device that had not started before the outage is not part of the comparison.
      const begunDevices = devices.filter(({ session }) => session !== undefined);
      const recovered = begunDevices.flatMap((device) => this.#recoveredMs.get(device) ?? []);
      const requestsPerSecond = Array.from(this.#countsOf(cohort), (each) => each ?? 0);
      const isWhole = recovered.length === begunDevices.length;
      return {
        cohort,
        devices: begunDevices.length,
        requests: requestsPerSecond.reduce((sum, each) => sum + each, 0),
        peakRequestsPerSecond: peakOf(requestsPerSecond),
        recovered: recovered.length,
        fullRecoveryMs: isWhole ? Math.max(0, ...recovered) : null,
        requestsPerSecond,
      };
    });
  }

  #countsOf(cohort: string): number[] {
    const cohortCounts = this.#perSecond.get(cohort);
    if (cohortCounts) return cohortCounts;
    const counts: number[] = [];
    this.#perSecond.set(cohort, counts);
    return counts;
  }
}
