/**
 * The comparison of two or more policies after an outage: how hard each cohort hits the server when
 * the network is back, and how long it takes until every device has recovered.
 */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';

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
export const backoffComparisonShape = v.array(herdCohortShape);
export type BackoffComparison = Immutable<v.InferOutput<typeof backoffComparisonShape>>;

/** Merges the comparisons of several processes; exact, since counts add up second by second. */
export function mergedBackoffComparisons(parts: readonly BackoffComparison[]): BackoffComparison {
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

/** Groups rows by name, in order of first appearance. */
export function grouped<Row>(
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

/** Returns the highest value, at least zero. */
export function peakOf(requestsPerSecond: readonly number[]): number {
  return requestsPerSecond.reduce((most, each) => Math.max(most, each), 0);
}
