/** The sections of the page with measurements: roll-out, updates, latencies and back-off. */
import { deviceStates, stateText } from '../result/device-states.ts';
import type { FleetResult } from '../result/result.ts';
import type { Figures } from '../result/result-figures.ts';
import { timeToPercentMs, type UpdateTimes, updateTimes } from '../result/update-times.ts';
import type { FleetFacts, ShownSection, ShownTable } from './page-facts.ts';
import { backoffTable, byteText, partialLatencyNote } from './text.ts';

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
        ({ outcome, field, tone }) => [stateText(outcome), funnel[field], tone] as const,
      ),
    ],
    times: PERCENTS.map((percent) => [`${percent} % updated after`, timeText(times, percent)]),
  };
}

function timeText(times: UpdateTimes, percent: number): string {
  const afterMs = timeToPercentMs(times, percent);
  if (afterMs !== undefined) return `${Number((afterMs / 1000).toPrecision(4))} s`;
  const share = times.devices > 0 ? (100 * times.points.length) / times.devices : 0;
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
        rows: updates.statuses.map((row) => [row.status, ...figureCells(row)]),
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
 * stage.
 */
export function latencySection(result: FleetResult): ShownSection {
  const { latencies, operations, stages } = result;
  const table = (caption: string, rows: FleetResult['latencies']): ShownTable => ({
    caption,
    columns: ['Operation', ...figureColumns],
    rows: rows.map((row) => [row.operation, ...figureCells(row)]),
  });
  const byStage = stages.length < 2 ? [] : stages;
  return {
    id: 'latencies',
    title: 'Latency in milliseconds',
    tables: [
      table('Whole run', latencies),
      ...partTables(latencies),
      ...byStage.map((stage) => ({
        ...table(`Stage ${stage.name}`, stage.latencies),
        isClosed: true,
      })),
      responseTable(operations),
      ...byteTables(result),
    ],
  };
}

/** Returns a table for each part of the latencies; empty when they are not known. */
function partTables(latencies: FleetResult['latencies']): readonly ShownTable[] {
  const table = (caption: string, part: 'waiting' | 'service'): ShownTable => ({
    caption: caption + partialLatencyNote(latencies),
    columns: ['Operation', ...figureColumns],
    rows: latencies.flatMap(({ operation, [part]: figures }) =>
      figures === undefined ? [] : [[operation, ...figureCells(figures)]],
    ),
    isClosed: true,
  });
  return [
    table('Waiting: from when a request was due until it was sent', 'waiting'),
    table('Service: from when a request was sent until it was answered', 'service'),
  ].filter(({ rows }) => rows.length > 0);
}

/** Returns the table of bytes by operation; empty when they were not counted. */
function byteTables({ operations, traffic }: FleetResult): readonly ShownTable[] {
  if (traffic === undefined) return [];
  const rows = operations.flatMap(({ operation, sentBytes = 0, receivedBytes = 0 }) => {
    if (sentBytes + receivedBytes === 0) return [];
    return [[operation, byteText(sentBytes), '', byteText(receivedBytes), '']];
  });
  const rate = (perSecond: number): string => `${byteText(perSecond)}/s`;
  const { sentBytes, receivedBytes, downloadedBytes } = traffic;
  const sentCells = [byteText(sentBytes), rate(traffic.sentBytesPerSecond)];
  const receivedCells = [byteText(receivedBytes), rate(traffic.receivedBytesPerSecond)];
  const downloadedCells = [byteText(downloadedBytes), rate(traffic.downloadedBytesPerSecond)];
  return [
    {
      caption: 'Bytes of bodies and WebSocket messages, without headers, TLS and TCP',
      columns: ['Operation', 'Sent', 'Sent per second', 'Received', 'Received per second'],
      rows: [
        ['all', ...sentCells, ...receivedCells],
        ['downloads', '', '', ...downloadedCells],
        ...rows,
      ],
    },
  ];
}

function responseTable(operations: FleetResult['operations']): ShownTable {
  return {
    caption: 'Responses',
    columns: [
      'Operation',
      'By status',
      'Timeouts',
      'Resets',
      'Refused',
      'Other errors',
      'Signature refused',
    ],
    rows: operations.map((row) => [
      row.operation,
      Object.entries(row.responses)
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
