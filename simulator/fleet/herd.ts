/**
 * The comparison of two or more policies after an outage: how hard each cohort hits the server when
 * the network is back, and how long it takes until every device has got through.
 */
import * as v from 'valibot';
import type { Device } from '../device/device.ts';
import type { Immutable } from '../report/immutable.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const herdCohortShape = v.object({
  cohort: v.string(),
  devices: count,
  requests: count,
  peakRequestsPerSecond: count,
  recovered: v.pipe(count, v.description('Devices that got an answer other than 429 and 5xx.')),
  fullRecoveryMs: v.pipe(
    v.nullable(v.number()),
    v.description('From the return to the moment the last device got through; null: not all did.'),
  ),
  requestsPerSecond: v.pipe(
    v.array(count),
    v.description('Requests in each second since the return.'),
  ),
});

/** Cohorts side by side. */
export const herdShape = v.array(herdCohortShape);
export type HerdComparison = Immutable<v.InferOutput<typeof herdShape>>;

const SECOND_MS = 1000;
/** A day; later requests count as of the last second. */
const SECONDS_MAX = 86_400;

/** One exchange of a device, at its end. */
interface HerdExchange {
  readonly status?: number;
  readonly cause?: string;
  readonly elapsedMs: number;
}

/** Watches the cohorts from the return of the network on. */
export class HerdWatch {
  readonly #devices: readonly Device[];
  readonly #perSecond = new Map<string, number[]>();
  /** When each device got through, since the return. */
  readonly #recoveredMs = new Map<Device, number>();
  #returnedMs: number | undefined;

  constructor(devices: readonly Device[]) {
    this.#devices = devices;
  }

  /** The network is back. */
  returned(nowMs: number): void {
    this.#returnedMs ??= nowMs;
  }

  /** An exchange has ended that was sent; one that met the outage itself is none. */
  saw(device: Device, exchange: HerdExchange, nowMs: number): void {
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

  /** The cohorts side by side; undefined when the network never came back. */
  comparison(): HerdComparison | undefined {
    if (this.#returnedMs === undefined) return undefined;
    const cohorts = grouped(this.#devices, ({ cohort }) => cohort.name);
    return [...cohorts].map(([cohort, devices]) => {
      // Who had not begun before the outage does not come back from it.
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

/** The comparisons of several processes as one; exact, since counts add up second by second. */
export function mergedHerds(parts: readonly HerdComparison[]): HerdComparison {
  const cohorts = grouped(parts.flat(), ({ cohort }) => cohort);
  return [...cohorts].map(([cohort, rows]) => {
    const seconds = Math.max(0, ...rows.map(({ requestsPerSecond }) => requestsPerSecond.length));
    const requestsPerSecond = Array.from({ length: seconds }, (_, second) =>
      sum(rows.map((row) => row.requestsPerSecond[second] ?? 0)),
    );
    const recoveries = rows.map(({ fullRecoveryMs }) => fullRecoveryMs);
    return {
      cohort,
      devices: sum(rows.map(({ devices }) => devices)),
      requests: sum(rows.map(({ requests }) => requests)),
      peakRequestsPerSecond: peakOf(requestsPerSecond),
      recovered: sum(rows.map(({ recovered }) => recovered)),
      fullRecoveryMs: recoveries.includes(null) ? null : Math.max(0, ...recoveries.map(Number)),
      requestsPerSecond,
    };
  });
}

function grouped<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(nameOf(row));
    if (group) group.push(row);
    else groups.set(nameOf(row), [row]);
  }
  return groups;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function peakOf(requestsPerSecond: readonly number[]): number {
  return requestsPerSecond.reduce((most, each) => Math.max(most, each), 0);
}
