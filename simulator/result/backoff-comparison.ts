/**
 * The comparison of two or more back-off policies after a network outage: how much load each cohort
 * puts on the server when the network returns, and how long it takes until every device has
 * recovered.
 */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';
import { fields, first, highest, keepOrder, rows, sum } from './mergers.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const comparedCohortShape = v.object({
  cohort: v.string(),
  devices: count,
  requests: count,
  peakRequestsPerSecond: count,
  recovered: v.pipe(count, v.description('Devices that got a response other than 429 and 5xx.')),
  fullRecoveryMs: v.pipe(
    v.nullable(v.number()),
    v.description(
      'Time from the return of the network until the last device got such a response; null if not all did.',
    ),
  ),
  requestsPerSecond: v.pipe(
    v.array(count),
    v.description('Requests in each second since the return of the network.'),
  ),
});

/** Schema of a back-off comparison, with one row for each cohort. */
export const backoffComparisonShape = v.array(comparedCohortShape);
export type BackoffComparison = Immutable<v.InferOutput<typeof backoffComparisonShape>>;

/**
 * Merges the comparisons of several processes. The result is exact, because requests are added
 * second by second.
 */
export const mergedBackoffComparisons = rows<BackoffComparison[number]>(
  ({ cohort }) => cohort,
  (parts) => {
    const row = mergeCohorts(parts);
    return { ...row, peakRequestsPerSecond: peakOf(row.requestsPerSecond) };
  },
  keepOrder,
);

const mergeCohorts = fields<BackoffComparison[number]>({
  cohort: first,
  devices: sum,
  requests: sum,
  // Replaced later: the peak comes from the merged seconds, because parts may peak in different
  // ones.
  peakRequestsPerSecond: highest,
  recovered: sum,
  fullRecoveryMs: (parts) => (parts.includes(null) ? null : Math.max(0, ...parts.map(Number))),
  requestsPerSecond: (parts) =>
    Array.from({ length: highest(parts.map(({ length }) => length)) }, (_, second) =>
      sum(parts.map((part) => part[second] ?? 0)),
    ),
});

/** Returns the largest value; 0 for an empty list. */
export function peakOf(requestsPerSecond: readonly number[]): number {
  return requestsPerSecond.reduce((max, each) => Math.max(max, each), 0);
}
