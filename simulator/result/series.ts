/**
 * The time series of a run. Each row covers one second, or two, four, eight and so on in a long
 * run, so that the number of rows is bounded. Rows are aligned to multiples of their width since
 * the Unix epoch, so that the rows of several processes match.
 */
import type { DeviceStateCounts, Series } from './result-figures.ts';

/** Maximum number of rows: 15 minutes in rows of 1 s, 30 minutes in rows of 2 s, and so on. */
const SERIES_ROWS_MAX = 900;
const SECOND_MS = 1000;
/** Number of latency buckets per doubling, so that a percentile has an error of at most a fifth. */
const BUCKETS_PER_OCTAVE = 4;
/** Number of buckets; the last one begins at about 25 days in microseconds. */
const BUCKETS = 41 * BUCKETS_PER_OCTAVE + 1;
const MICROSECONDS_PER_MS = 1000;

/** A row of a series that is being counted. */
export interface SeriesRow {
  requests: number;
  errors: number;
  sentBytes: number;
  receivedBytes: number;
  readonly buckets: Uint32Array;
  /** Device counts at the last observation within the row; undefined without one. */
  devices: DeviceStateCounts | undefined;
}

/** The rows of a series by index. Row n starts `n * widthMs` milliseconds after the Unix epoch. */
export interface SeriesTable {
  readonly widthMs: number;
  readonly rows: ReadonlyMap<number, SeriesRow>;
}

/** The counts of an empty fleet. */
export const emptyAccounts: DeviceStateCounts = {
  pending: 0,
  idle: 0,
  updating: 0,
  done: 0,
  failed: 0,
  off: 0,
  noContact: 0,
};

/** Counts exchanges and devices into the rows of a series. */
export class SeriesCounter implements SeriesTable {
  #rows = new Map<number, SeriesRow>();
  #first: number;
  #current: { readonly index: number; readonly row: SeriesRow } | undefined;
  widthMs = SECOND_MS;

  constructor(startMs: number) {
    this.#first = Math.floor(startMs / this.widthMs);
  }

  get rows(): ReadonlyMap<number, SeriesRow> {
    return this.#rows;
  }

  /**
   * Records an exchange that ended at this time.
   * @param latencyMs undefined when no response arrived
   */
  recordExchange(nowMs: number, latencyMs: number | undefined, isError: boolean): void {
    const row = this.#row(nowMs);
    row.requests++;
    if (isError) row.errors++;
    if (latencyMs === undefined) return;
    const bucket = bucketOf(latencyMs);
    row.buckets[bucket] = (row.buckets[bucket] ?? 0) + 1;
  }

  /** Records bytes that were sent or received at this time. */
  recordBytes(nowMs: number, bytes: Pick<SeriesRow, 'sentBytes' | 'receivedBytes'>): void {
    const row = this.#row(nowMs);
    row.sentBytes += bytes.sentBytes;
    row.receivedBytes += bytes.receivedBytes;
  }

  /** Records the current states of the devices. */
  recordDevices(nowMs: number, devices: DeviceStateCounts): void {
    this.#row(nowMs).devices = devices;
  }

  figures(): Series {
    return seriesOf(this);
  }

  #row(nowMs: number): SeriesRow {
    const index = Math.max(Math.floor(nowMs / this.widthMs), this.#first);
    if (this.#current?.index === index) return this.#current.row;
    if (index - this.#first >= SERIES_ROWS_MAX) {
      this.#widen(index);
      return this.#row(nowMs);
    }
    const row = this.#rows.get(index) ?? emptyRow();
    this.#rows.set(index, row);
    this.#current = { index, row };
    return row;
  }

  #widen(lastIndex: number): void {
    const factor = rowFactor(this.#first, lastIndex);
    this.#rows = mergeAdjacentRows(this.#rows, factor);
    this.#first = Math.floor(this.#first / factor);
    this.widthMs *= factor;
    this.#current = undefined;
  }
}

/**
 * Returns the factor by which rows must widen so that `first` to `last` are at most
 * `SERIES_ROWS_MAX` rows.
 */
export function rowFactor(first: number, last: number): number {
  let factor = 1;
  while (Math.floor(last / factor) - Math.floor(first / factor) >= SERIES_ROWS_MAX) factor *= 2;
  return factor;
}

/** Merges each `factor` adjacent rows into one. */
export function mergeAdjacentRows(
  rows: ReadonlyMap<number, SeriesRow>,
  factor: number,
): Map<number, SeriesRow> {
  const folded = new Map<number, SeriesRow>();
  for (const [index, row] of [...rows].sort(([one], [other]) => one - other)) {
    const wide = folded.get(Math.floor(index / factor)) ?? emptyRow();
    folded.set(Math.floor(index / factor), wide);
    addCounts(wide, row);
    wide.devices = row.devices ?? wide.devices;
  }
  return folded;
}

/** Adds the counts of exchanges. Device counts are states and cannot be added. */
export function addCounts(to: SeriesRow, from: SeriesRow): void {
  to.requests += from.requests;
  to.errors += from.errors;
  to.sentBytes += from.sentBytes;
  to.receivedBytes += from.receivedBytes;
  for (const [bucket, count] of from.buckets.entries()) {
    if (count > 0) to.buckets[bucket] = (to.buckets[bucket] ?? 0) + count;
  }
}

export function emptyRow(): SeriesRow {
  const counts = { requests: 0, errors: 0, sentBytes: 0, receivedBytes: 0 };
  return { ...counts, buckets: new Uint32Array(BUCKETS), devices: undefined };
}

/**
 * Returns the series in the format of a result. A row without device counts repeats the counts of the
 * previous row.
 */
export function seriesOf({ widthMs, rows }: SeriesTable): Series {
  let devices = emptyAccounts;
  const ordered = [...rows].sort(([one], [other]) => one - other);
  return {
    widthMs,
    rows: ordered.map(([index, row]) => {
      devices = row.devices ?? devices;
      return {
        startMs: index * widthMs,
        requests: row.requests,
        errors: row.errors,
        sentBytes: row.sentBytes,
        receivedBytes: row.receivedBytes,
        p50Ms: percentileMs(row.buckets, 0.5),
        p99Ms: percentileMs(row.buckets, 0.99),
        buckets: [...row.buckets.entries()].filter(([, count]) => count > 0),
        devices,
      };
    }),
  };
}

function bucketOf(latencyMs: number): number {
  const microseconds = latencyMs * MICROSECONDS_PER_MS;
  if (microseconds <= 1) return 0;
  return Math.min(Math.ceil(Math.log2(microseconds) * BUCKETS_PER_OCTAVE), BUCKETS - 1);
}

function percentileMs(buckets: Uint32Array, share: number): number {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return 0;
  let passedCount = 0;
  const bucket = buckets.findIndex((count) => {
    passedCount += count;
    return passedCount >= total * share;
  });
  return 2 ** (bucket / BUCKETS_PER_OCTAVE) / MICROSECONDS_PER_MS;
}
