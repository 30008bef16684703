/** Merges the time series of several processes row by row. */
import { counts } from './mergers.ts';
import type { DeviceStateCounts, Series } from './result-figures.ts';
import {
  addCounts,
  emptyAccounts,
  emptyRow,
  mergeAdjacentRows,
  rowFactor,
  type SeriesRow,
  seriesOf,
} from './series.ts';

/**
 * Merges time series. The rows of the result are as wide as the widest rows of a part, or wider
 * when there would be too many rows.
 */
export function mergedSeries(parts: readonly Series[]): Series {
  const filledParts = parts.filter(({ rows }) => rows.length > 0);
  const widestMs = Math.max(...parts.map(({ widthMs }) => widthMs));
  const starts = filledParts.flatMap(({ rows }) => rows.map(({ startMs }) => startMs));
  if (starts.length === 0) return { widthMs: widestMs, rows: [] };
  const first = Math.floor(minOf(starts) / widestMs);
  const last = Math.floor(maxOf(starts) / widestMs);
  const widthMs = widestMs * rowFactor(first, last);
  const tables = filledParts.map((series) => tableOf(series, widthMs));
  const indices = [...new Set(tables.flatMap((table) => [...table.keys()]))];
  indices.sort((one, other) => one - other);
  return seriesOf({ widthMs, rows: summedRows(tables, indices) });
}

/**
 * Merges the rows of several tables. A part without a row at some index contributes the device
 * counts of its previous row.
 */
function summedRows(
  tables: readonly ReadonlyMap<number, SeriesRow>[],
  indices: readonly number[],
): ReadonlyMap<number, SeriesRow> {
  const lastCounts: DeviceStateCounts[] = tables.map(() => emptyAccounts);
  const rows = new Map<number, SeriesRow>();
  for (const index of indices) {
    const sum = emptyRow();
    for (const [part, table] of tables.entries()) {
      const row = table.get(index);
      if (row === undefined) continue;
      addCounts(sum, row);
      lastCounts[part] = row.devices ?? emptyAccounts;
    }
    sum.devices = counts([emptyAccounts, ...lastCounts]);
    rows.set(index, sum);
  }
  return rows;
}

function tableOf(series: Series, widthMs: number): ReadonlyMap<number, SeriesRow> {
  const rows = new Map<number, SeriesRow>();
  for (const { startMs, buckets, p50Ms: _p50, p99Ms: _p99, ...counts } of series.rows) {
    const row = { ...emptyRow(), ...counts };
    for (const [bucket, count] of buckets) row.buckets[bucket] = count;
    rows.set(startMs / series.widthMs, row);
  }
  return mergeAdjacentRows(rows, widthMs / series.widthMs);
}

function minOf(values: readonly number[]): number {
  return values.reduce((min, value) => Math.min(min, value), Number.POSITIVE_INFINITY);
}

function maxOf(values: readonly number[]): number {
  return values.reduce((max, value) => Math.max(max, value), Number.NEGATIVE_INFINITY);
}
