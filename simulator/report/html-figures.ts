/** The measured part of the page: roll-out, time series, latencies. */

import type { FleetResult } from '../result/result.ts';
import type { Figures } from '../result/result-figures.ts';
import { timeToPercentMs, type UpdateTimes, updateTimes } from '../result/update-times.ts';
import { barChart, lineChart } from './html-charts.ts';
import { type Child, element, type Html, section, table } from './html-elements.ts';
import { backoffTable } from './text.ts';

/** Shares of the fleet whose update time is shown. */
const PERCENTS = [50, 95, 100];
/** Points of a curve; more would not be visible. */
const POINTS_MAX = 1000;
/** Number of line styles of the page. */
const CHART_STYLES = 5;

/** Renders the progress of the fleet, and how long it took. */
export function updateSection(result: FleetResult): Html {
  const times = updateTimes(result);
  return section(
    'updates',
    'Updates',
    funnelChart(result),
    element(
      'dl',
      { id: 'update-times' },
      ...PERCENTS.flatMap((percent) => timeRow(times, percent)),
    ),
    ...(times.moments.length === 0 ? [] : [updatedCurve(times)]),
    table(
      'Complete updates',
      ['From', 'Outcome', ...figureColumns],
      result.updates.whole.map((row) => {
        return [row.from, row.outcome, ...figureCells(row)];
      }),
    ),
    table(
      'Time in each state',
      ['State', ...figureColumns],
      result.updates.stages.map((row) => {
        return [row.stage, ...figureCells(row)];
      }),
    ),
  );
}

function funnelChart({ funnel }: FleetResult): Html {
  const rows = [
    ['offered', funnel.offered, 1],
    ['downloading', funnel.downloading, 1],
    ['installing', funnel.installing, 1],
    ['rebooting', funnel.rebooting, 1],
    ['success', funnel.success, 2],
    ['already installed', funnel.alreadyInstalled, 2],
    ['failure', funnel.failure, 3],
    ['aborted', funnel.aborted, 4],
    ['updating', funnel.underway, 4],
    ['idle', funnel.idle, 5],
    ['pending', funnel.waiting, 5],
    ['no contact', funnel.silent, 3],
  ] as const;
  return barChart(`Progress of ${funnel.devices} devices`, rows, funnel.devices);
}

function timeRow(times: UpdateTimes, percent: number): readonly Html[] {
  const afterMs = timeToPercentMs(times, percent);
  const share = times.devices > 0 ? (100 * times.moments.length) / times.devices : 0;
  const said =
    afterMs === undefined ? `never: ${share.toFixed(1)} % were updated` : secondsText(afterMs);
  return [element('dt', {}, `${percent} % updated after`), element('dd', {}, said)];
}

function updatedCurve({ devices, moments }: UpdateTimes): Html {
  const every = Math.ceil(moments.length / POINTS_MAX);
  const shown = moments.filter((_, index) => index % every === 0 || index === moments.length - 1);
  const points = shown.map(({ afterMs, updated }) => [afterMs, (100 * updated) / devices] as const);
  return lineChart({
    title: 'Share of the fleet updated since the deployment was created',
    lines: [{ name: 'updated', style: 2, points: [[0, 0], ...points], steps: true }],
    xText: secondsText,
    yText: (percent) => `${percent} %`,
  });
}

/** Renders latency, requests, errors and devices over the time of the run. */
export function overTimeSection({ series, startedAt }: FleetResult): Html {
  const { rows, widthMs } = series;
  const startMs = rows[0]?.startMs ?? 0;
  const over = (of: (row: (typeof rows)[number]) => number) =>
    thinned(rows).map((row) => [row.startMs - startMs, of(row)] as const);
  const perSecond = (count: number): number => (count * 1000) / widthMs;
  const answered = ({ requests, errors }: (typeof rows)[number], ms: number): number =>
    requests > errors || ms > 0 ? ms : Number.NaN;
  return section(
    'over-time',
    'Over time',
    element(
      'p',
      { class: 'hint' },
      `Each point covers ${widthMs / 1000} s, starting at ${startedAt}.`,
    ),
    lineChart({
      title: 'Latency of answered requests, counted from when each was due',
      lines: [
        { name: 'p50', style: 1, points: over((row) => answered(row, row.p50Ms)) },
        { name: 'p99', style: 3, points: over((row) => answered(row, row.p99Ms)) },
      ],
      xText: secondsText,
      yText: (ms) => `${numberText(ms)} ms`,
    }),
    lineChart({
      title: 'Requests and errors per second',
      lines: [
        { name: 'requests', style: 1, points: over(({ requests }) => perSecond(requests)) },
        { name: 'errors', style: 3, points: over(({ errors }) => perSecond(errors)) },
      ],
      xText: secondsText,
      yText: (count) => `${numberText(count)}/s`,
    }),
    lineChart({
      title: 'Devices by state',
      lines: (['updating', 'done', 'failed', 'silent', 'waiting'] as const).map((name, index) => {
        const points = over(({ devices }) => devices[name]);
        return { name, style: index + 1, points, steps: true };
      }),
      xText: secondsText,
      yText: numberText,
    }),
  );
}

/** Renders how hard each cohort hit the server after the outage; empty where none were compared. */
export function backoffSection({ herd }: FleetResult): readonly Html[] {
  if (herd === undefined) return [];
  const [head = [], ...rows] = backoffTable(herd);
  return [
    section(
      'backoff',
      'Backoff comparison',
      table('Cohorts after the outage', head, rows),
      lineChart({
        title: 'Requests per second since the network returned',
        lines: herd.map(({ cohort, requestsPerSecond }, index) => ({
          name: cohort,
          style: (index % CHART_STYLES) + 1,
          points: requestsPerSecond.map((count, second) => [1000 * second, count] as const),
          steps: true,
        })),
        xText: secondsText,
        yText: (count) => `${numberText(count)}/s`,
      }),
    ),
  ];
}

function thinned<Row>(rows: readonly Row[]): readonly Row[] {
  const every = Math.ceil(rows.length / POINTS_MAX);
  return rows.filter((_, index) => index % every === 0);
}

/** Renders percentiles by operation, of the whole run and of each phase. */
export function latencySection(result: FleetResult): Html {
  const { latencies, operations, phases } = result;
  const columns = ['Operation', ...figureColumns];
  const tables =
    phases.length < 2
      ? []
      : phases.map((phase) => {
          const rows = phase.latencies.map((row) => [row.operation, ...figureCells(row)]);
          return table(`Phase ${phase.name}`, columns, rows);
        });
  return section(
    'latencies',
    'Latency in milliseconds',
    table(
      'Whole run',
      columns,
      latencies.map((row) => [row.operation, ...figureCells(row)]),
    ),
    ...tables,
    table(
      'Responses',
      [
        'Operation',
        'By status',
        'Timeouts',
        'Resets',
        'Refused',
        'Other errors',
        'Signature refused',
      ],
      operations.map((row) => [
        row.operation,
        Object.entries(row.answers)
          .map(([name, count]) => `${name} ${count}`)
          .join(', '),
        ...[
          row.timeouts,
          row.resets,
          row.refusedConnections,
          row.otherFaults,
          row.signatureRefusals,
        ].map(String),
      ]),
    ),
  );
}

const figureColumns = ['p50 ms', 'p90 ms', 'p95 ms', 'p99 ms', 'p99.9 ms', 'max ms', 'count'];

function figureCells(figures: Figures): readonly Child[] {
  const { p50Ms, p90Ms, p95Ms, p99Ms, p999Ms, maxMs, count } = figures;
  return [...[p50Ms, p90Ms, p95Ms, p99Ms, p999Ms, maxMs].map((ms) => ms.toFixed(1)), String(count)];
}

function secondsText(ms: number): string {
  return `${numberText(ms / 1000)} s`;
}

function numberText(value: number): string {
  return String(Number(value.toPrecision(4)));
}
