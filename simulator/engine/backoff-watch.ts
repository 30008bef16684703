/** Watches how the cohorts of a fleet return after a network outage. */
import type { Device } from '../device/device.ts';
import { type BackoffComparison, peakOf } from '../result/backoff-comparison.ts';
import { grouped } from '../result/merge-rules.ts';

const SECOND_MS = 1000;
/** A day; later requests count as of the last second. */
const SECONDS_MAX = 86_400;

/** A finished exchange of a device. */
interface FinishedExchange {
  readonly status?: number;
  readonly cause?: string;
  readonly elapsedMs: number;
}

/** Watches the cohorts from the return of the network. */
export class BackoffWatch {
  readonly #devices: readonly Device[];
  readonly #perSecond = new Map<string, number[]>();
  /** When each device recovered, since the return. */
  readonly #recoveredMs = new Map<Device, number>();
  #returnedMs: number | undefined;

  constructor(devices: readonly Device[]) {
    this.#devices = devices;
  }

  /** Records that the network is back. */
  returned(nowMs: number): void {
    this.#returnedMs ??= nowMs;
  }

  /**
   * Records a finished exchange; one that failed in the outage itself was not sent and does not
   * count.
   */
  record(device: Device, exchange: FinishedExchange, nowMs: number): void {
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

  /** Returns the comparison of the cohorts; undefined when the network never came back. */
  comparison(): BackoffComparison | undefined {
    if (this.#returnedMs === undefined) return undefined;
    const cohorts = grouped(this.#devices, ({ cohort }) => cohort.name);
    return [...cohorts].map(([cohort, devices]) => {
      // A device that had not started before the outage cannot return from it.
      const begun = devices.filter(({ session }) => session !== undefined);
      const recovered = begun.flatMap((device) => this.#recoveredMs.get(device) ?? []);
      const requestsPerSecond = Array.from(this.#countsOf(cohort), (each) => each ?? 0);
      const isWhole = recovered.length === begun.length;
      return {
        cohort,
        devices: begun.length,
        requests: requestsPerSecond.reduce((sum, each) => sum + each, 0),
        peakRequestsPerSecond: peakOf(requestsPerSecond),
        recovered: recovered.length,
        fullRecoveryMs: isWhole ? Math.max(0, ...recovered) : null,
        requestsPerSecond,
      };
    });
  }

  #countsOf(cohort: string): number[] {
    const known = this.#perSecond.get(cohort);
    if (known) return known;
    const counts: number[] = [];
    this.#perSecond.set(cohort, counts);
    return counts;
  }
}
