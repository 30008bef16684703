/** Merges the figures of several results: counts by sums, durations by their histograms. */

import { DurationHistogram } from './histograms.ts';
import type { FleetResult } from './result.ts';
import type {
  ErrorCount,
  Figures,
  OperationCount,
  OperationLatency,
  PhaseFigures,
  UpdateFigures,
} from './result-figures.ts';

interface Measured {
  readonly latencies: readonly OperationLatency[];
  readonly operations: readonly OperationCount[];
}

/** Merges the figures of exchanges, as a whole and by phase. @throws HistogramError */
export function mergedMeasures(
  results: readonly (Measured & Pick<FleetResult, 'phases' | 'errors'>)[],
): Measured & Pick<FleetResult, 'phases' | 'errors'> {
  return {
    ...mergedExchanges(results),
    phases: mergedPhases(results.flatMap(({ phases }) => phases)),
    errors: mergedErrors(results.flatMap(({ errors }) => errors)),
  };
}

/** @throws HistogramError */
export function mergedUpdates(updates: readonly UpdateFigures[]): UpdateFigures {
  const whole = grouped(
    updates.flatMap(({ whole: rows }) => rows),
    ({ from, outcome }) => `${from} ${outcome}`,
  );
  const stages = grouped(
    updates.flatMap(({ stages: rows }) => rows),
    ({ stage }) => stage,
  );
  return { whole: whole.map(summed), stages: stages.map(summed) };
}

/** Merges durations. @throws HistogramError */
export function mergedDurations(figures: readonly Figures[]): DurationHistogram {
  const whole = DurationHistogram.empty();
  for (const each of figures) whole.add(DurationHistogram.of(each));
  return whole;
}

function mergedExchanges(parts: readonly Measured[]): Measured {
  const latencies = grouped(
    parts.flatMap((part) => part.latencies),
    ({ operation }) => operation,
  );
  const operations = grouped(
    parts.flatMap((part) => part.operations),
    ({ operation }) => operation,
  );
  return { latencies: latencies.map(summed), operations: operations.map(summedCount) };
}

/** In chronological order; phases of the same name are the same period of the plan. */
function mergedPhases(phases: readonly PhaseFigures[]): PhaseFigures[] {
  const merged = grouped(phases, ({ name }) => name).map(([first, ...others]) => {
    const rows = [first, ...others];
    return {
      name: first.name,
      startMs: Math.min(...rows.map(({ startMs }) => startMs)),
      endMs: Math.max(...rows.map(({ endMs }) => endMs)),
      lateness: mergedDurations(rows.map(({ lateness }) => lateness)).figures(),
      ...mergedExchanges(rows),
    };
  });
  return merged.sort(
    (one, other) => one.startMs - other.startMs || (one.name < other.name ? -1 : 1),
  );
}

function mergedErrors(errors: readonly ErrorCount[]): ErrorCount[] {
  return grouped(errors, ({ operation, cause }) => `${operation} ${cause}`)
    .map(([first, ...others]) => {
      return { ...first, count: others.reduce((sum, { count }) => sum + count, first.count) };
    })
    .sort(inErrorOrder);
}

type Group<Row> = readonly [Row, ...Row[]];

/** Groups rows by key, sorted by key. */
function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Group<Row>[] {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
}

function summed<Row extends Figures>(group: Group<Row>): Row {
  return { ...group[0], ...mergedDurations(group).figures() };
}

const countNames = [
  'unanswered',
  'timeouts',
  'resets',
  'refusedConnections',
  'otherFaults',
  'signatureRefusals',
] as const;

function summedCount(group: Group<OperationCount>): OperationCount {
  const [first, ...others] = group;
  const sum = { ...first, answers: { ...first.answers } as Record<string, number> };
  for (const other of others) {
    for (const name of countNames) sum[name] += other[name];
    for (const [name, count] of Object.entries(other.answers)) {
      sum.answers[name] = (sum.answers[name] ?? 0) + count;
    }
  }
  const answers = Object.entries(sum.answers).sort(([one], [other]) => (one < other ? -1 : 1));
  return { ...sum, answers: Object.fromEntries(answers) };
}

/** Sorts the most frequent first, in an order that is always the same. */
export function inErrorOrder(one: ErrorCount, other: ErrorCount): number {
  const nameOf = ({ operation, cause }: ErrorCount): string => `${operation} ${cause}`;
  return other.count - one.count || (nameOf(one) < nameOf(other) ? -1 : 1);
}
