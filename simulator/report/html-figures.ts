/** The sections of the page with measurements: roll-out, updates, latencies and back-off. */

import { deviceStates, stateWords } from '../result/device-states.ts';
import type { FleetResult } from '../result/result.ts';
import type { Figures } from '../result/result-figures.ts';
import { timeToPercentMs, type UpdateTimes, updateTimes } from '../result/update-times.ts';
import type { FleetFacts, ShownSection, ShownTable } from './page-facts.ts';
import { backoffTable } from './text.ts';

/** Percentages of the fleet for which the update time is shown. */
const PERCENTS = [50, 95, 100];

/** Returns the progress of the fleet and the times of its updates. */
export function progressOf(result: FleetResult): FleetFacts['progress'] {
  const { funnel } = result;
  const times = updateTimes(result);
  return {
    devices: funnel.devices,
    rows: [
      ['offered', funnel.offered, 'info'],
      ['downloading', funnel.downloading, 'info'],
      ['installing', funnel.installing, 'info'],
      ['rebooting', funnel.rebooting, 'info'],
      ...deviceStates.map(
        ({ outcome, field, tone }) => [stateWords(outcome), funnel[field], tone] as const,
      ),
    ],
    times: PERCENTS.map((percent) => [`${percent} % updated after`, timeText(times, percent)]),
  };
}

function timeText(times: UpdateTimes, percent: number): string {
  const afterMs = timeToPercentMs(times, percent);
  if (afterMs !== undefined) return `${Number((afterMs / 1000).toPrecision(4))} s`;
  const share = times.devices > 0 ? (100 * times.moments.length) / times.devices : 0;
  return `never: only ${share.toFixed(1)} % were updated`;
}

/** Returns the section with the durations of updates and of their states. */
export function updateSection({ updates }: FleetResult): ShownSection {
  return {
    id: 'updates',
    title: 'Updates',
    isDetail: true,
    tables: [
      {
        caption: 'Complete updates',
        columns: ['From', 'Outcome', ...figureColumns],
        rows: updates.whole.map((row) => [row.from, row.outcome, ...figureCells(row)]),
      },
      {
        caption: 'Time in each state',
        columns: ['State', ...figureColumns],
        rows: updates.stages.map((row) => [row.stage, ...figureCells(row)]),
      },
    ],
  };
}

/**
 * Returns the section with the load of each cohort after the outage; an empty list when the run has
 * no back-off comparison.
 */
export function backoffSections({ backoffComparison }: FleetResult): readonly ShownSection[] {
  if (backoffComparison === undefined) return [];
  const [columns = [], ...rows] = backoffTable(backoffComparison);
  const tables = [{ caption: 'Cohorts after the outage', columns, rows }];
  return [{ id: 'backoff', title: 'Backoff comparison', tables }];
}

/**
 * Returns the section with the latency percentiles by operation, of the whole run and of each
 * phase.
 */
export function latencySection({ latencies, operations, phases }: FleetResult): ShownSection {
  const table = (caption: string, rows: FleetResult['latencies']): ShownTable => ({
    caption,
    columns: ['Operation', ...figureColumns],
    rows: rows.map((row) => [row.operation, ...figureCells(row)]),
  });
  const byPhase = phases.length < 2 ? [] : phases;
  return {
    id: 'latencies',
    title: 'Latency in milliseconds',
    tables: [
      table('Whole run', latencies),
      ...byPhase.map((phase) => ({
        ...table(`Phase ${phase.name}`, phase.latencies),
        isClosed: true,
      })),
      responseTable(operations),
    ],
  };
}

function responseTable(operations: FleetResult['operations']): ShownTable {
  return {
    caption: 'Responses',
    columns: [
      ...['Operation', 'By status', 'Timeouts', 'Resets', 'Refused', 'Other errors'],
      'Signature refused',
    ],
    rows: operations.map((row) => [
      row.operation,
      Object.entries(row.answers)
        .map(([name, count]) => `${name} ${count}`)
        .join(', '),
      ...[
        row.timeouts,
        row.resets,
        row.refusedConnections,
        row.otherErrors,
        row.signatureRefusals,
      ].map(String),
    ]),
  };
}

const figureColumns = ['p50 ms', 'p90 ms', 'p95 ms', 'p99 ms', 'p99.9 ms', 'max ms', 'count'];

function figureCells(figures: Figures): readonly string[] {
  const { p50Ms, p90Ms, p95Ms, p99Ms, p999Ms, maxMs, count } = figures;
  return [...[p50Ms, p90Ms, p95Ms, p99Ms, p999Ms, maxMs].map((ms) => ms.toFixed(1)), String(count)];
}
