/** The charts of the page: measurements over a common time axis, with stages and incidents. */
import { stateText } from '../result/device-states.ts';
import type { FleetResult } from '../result/result.ts';
import type { Series } from '../result/result-figures.ts';
import { updateTimes } from '../result/update-times.ts';
import type { ShownChart, ShownCourse, ShownLine, ShownMark, ShownTone } from './page-facts.ts';

/** Maximum number of points of the curve of updates; more would not be visible. */
const POINTS_MAX = 1000;
const SECOND_MS = 1000;

type CourseRow = Series['rows'][number];

/** Start and end of the load, in milliseconds since the Unix epoch. */
interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Returns the charts and their marks. */
export function courseOf(result: FleetResult): ShownCourse {
  const span = spanOf(result);
  const { widthMs } = result.series;
  return {
    startsAt: new Date(span.startMs).toISOString(),
    endSeconds: roundValue((span.endMs - span.startMs) / SECOND_MS),
    hint: `Each point covers ${widthMs / SECOND_MS} s.`,
    charts: [...seriesCharts(result, span), ...updatedChart(result, span), ...backoffChart(result)],
    marks: [...stageMarks(result, span), ...incidentMarks(result)],
  };
}

/** Returns the time range of the load. In virtual time, the load may start long after the run. */
function spanOf({ startedAt, durationMs, stages, series }: FleetResult): Span {
  const startedMs = Date.parse(startedAt);
  const ends = stages.map(({ endMs }) => endMs);
  const lastRow = series.rows.at(-1);
  if (lastRow && ends.length === 0) ends.push(lastRow.startMs + series.widthMs);
  const endMs = Math.max(startedMs + durationMs, ...ends);
  return { startMs: Math.max(startedMs, endMs - durationMs), endMs };
}

function seriesCharts({ series }: FleetResult, span: Span): readonly ShownChart[] {
  const { widthMs } = series;
  const rows = series.rows.filter(({ startMs }) => startMs + widthMs > span.startMs);
  const seconds = rows.map(({ startMs }) => secondsIn(span, startMs));
  const valuesOf = (figureOf: (row: CourseRow) => number | null): ShownLine['values'] =>
    rows.map((row) => {
      const value = figureOf(row);
      return value === null ? null : roundValue(value);
    });
  const perSecond = (count: number): number => (count * SECOND_MS) / widthMs;
  const bytes = (count?: number): number | null => (count === undefined ? null : perSecond(count));
  const answeredMs = ({ requests, errors }: CourseRow, ms: number): number | null =>
    requests > errors || ms > 0 ? ms : null;
  return [
    {
      title: 'Requests and errors per second',
      axis: 'per second',
      unit: '/s',
      seconds,
      lines: [
        { name: 'requests', tone: 'info', values: valuesOf((row) => perSecond(row.requests)) },
        { name: 'errors', tone: 'negative', values: valuesOf((row) => perSecond(row.errors)) },
      ],
    },
    {
      title: 'Latency of answered requests, from when each was due',
      axis: 'latency in ms',
      unit: ' ms',
      seconds,
      lines: [
        { name: 'p50', tone: 'info', values: valuesOf((row) => answeredMs(row, row.p50Ms)) },
        { name: 'p99', tone: 'negative', values: valuesOf((row) => answeredMs(row, row.p99Ms)) },
      ],
    },
    ...(rows.some(({ receivedBytes }) => receivedBytes !== undefined)
      ? [
          {
            title: 'Bytes per second, without headers and TLS',
            axis: 'bytes per second',
            unit: ' B/s',
            seconds,
            lines: [
              { name: 'sent', tone: 'info', values: valuesOf((row) => bytes(row.sentBytes)) },
              {
                name: 'received',
                tone: 'positive',
                values: valuesOf((row) => bytes(row.receivedBytes)),
              },
            ],
          } as const,
        ]
      : []),
    {
      title: 'Devices by state',
      axis: 'devices',
      unit: '',
      seconds,
      lines: stateLines.map(([name, tone, isDashed]) => {
        const values = valuesOf((row) => row.devices[name]);
        return { name: stateText(name), tone, isDashed, hasSteps: true, values };
      }),
    },
  ];
}

const stateLines = [
  ['idle', 'info', false],
  ['updating', 'pending', false],
  ['done', 'positive', false],
  ['failed', 'negative', false],
  ['pending', 'plain', false],
  ['off', 'plain', true],
  ['noContact', 'negative', true],
] as const;

function updatedChart(result: FleetResult, span: Span): readonly ShownChart[] {
  const { devices, points: moments } = updateTimes(result);
  const [first] = moments;
  if (first === undefined) return [];
  const offers = result.devices.flatMap(({ offeredMs }) => offeredMs ?? []);
  const zeroMs = result.deployedMs ?? offers.reduce((one, other) => Math.min(one, other), Infinity);
  if (!Number.isFinite(zeroMs)) return [];
  const every = Math.ceil(moments.length / POINTS_MAX);
  const shownPoints = moments.filter(
    (_, index) => index % every === 0 || index === moments.length - 1,
  );
  const last = { afterMs: span.endMs - zeroMs, updated: moments.length };
  const points = [{ afterMs: 0, updated: 0 }, ...shownPoints, last].filter(
    ({ afterMs }) => afterMs <= last.afterMs,
  );
  return [
    {
      title: 'Share of the fleet updated',
      axis: 'share of the fleet in %',
      unit: ' %',
      seconds: points.map(({ afterMs }) => secondsIn(span, zeroMs + afterMs)),
      lines: [
        {
          name: 'updated',
          tone: 'positive',
          hasSteps: true,
          values: points.map(({ updated }) => roundValue((100 * updated) / devices)),
        },
      ],
    },
  ];
}

const backoffTones: readonly ShownTone[] = ['info', 'pending', 'positive', 'negative', 'plain'];

/** Returns the chart of each cohort's requests after the network returned. */
function backoffChart({ backoffComparison, plan }: FleetResult): readonly ShownChart[] {
  const outage = plan.incidents?.find(({ name }) => name === 'backoff-comparison');
  if (backoffComparison === undefined || outage === undefined) return [];
  const { atMs, lastingMs = OUTAGE_DEFAULT_MS } = outage;
  const from = (atMs + lastingMs) / SECOND_MS;
  const length = Math.max(
    0,
    ...backoffComparison.map(({ requestsPerSecond }) => requestsPerSecond.length),
  );
  return [
    {
      title: 'Requests per second of each cohort since the network returned',
      axis: 'per second',
      unit: '/s',
      seconds: Array.from({ length }, (_, second) => from + second),
      lines: backoffComparison.map(({ cohort, requestsPerSecond }, index) => ({
        name: cohort,
        tone: backoffTones[index % backoffTones.length] ?? 'plain',
        isDashed: index >= backoffTones.length,
        hasSteps: true,
        values: Array.from({ length }, (_, second) => requestsPerSecond[second] ?? null),
      })),
    },
  ];
}

function stageMarks({ stages, plan }: FleetResult, span: Span): readonly ShownMark[] {
  const incidents = new Set<string>(plan.incidents?.map(({ name }) => name));
  return stages
    .filter(({ name, endMs }) => !incidents.has(name) && endMs > span.startMs)
    .map(({ name, startMs, endMs }) => {
      const [from, to] = [secondsIn(span, startMs), secondsIn(span, endMs)];
      return { name, kind: 'stage', from, to };
    });
}

function incidentMarks({ plan, spread }: FleetResult): readonly ShownMark[] {
  const plannedMarks = (plan.incidents ?? []).map(
    ({ name, atMs, lastingMs, withinMs }): ShownMark => {
      const lengthMs = lastingMs ?? (outages.has(name) ? OUTAGE_DEFAULT_MS : (withinMs ?? 0));
      const from = atMs / SECOND_MS;
      return { name, kind: 'incident', from, to: from + lengthMs / SECOND_MS };
    },
  );
  const losses = (spread?.takeovers ?? []).map(({ shard, afterMs }): ShownMark => {
    const from = roundValue(afterMs / SECOND_MS);
    return { name: `worker of shard ${shard} lost`, kind: 'incident', from, to: from };
  });
  return [...plannedMarks, ...losses];
}

const outages: ReadonlySet<string> = new Set(['power-cut', 'backoff-comparison']);
/** Duration of an outage in milliseconds when the incident does not set one. */
const OUTAGE_DEFAULT_MS = 10_000;

function secondsIn({ startMs }: Span, atMs: number): number {
  return Math.max(0, roundValue((atMs - startMs) / SECOND_MS));
}

/**
 * Rounds a value to five digits, because further digits are invisible and would double the page's
 * size.
 */
function roundValue(value: number): number {
  return Number(value.toPrecision(5));
}
