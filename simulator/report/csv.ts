/**
 * Renders the figures of a run as CSV (RFC 4180) for spreadsheets, with a row for each stage and
 * operation.
 */
import type { FleetResult } from '../result/result.ts';
import type { Figures, OperationCount, OperationLatency } from '../result/result-figures.ts';
import { countsOf } from '../result/thresholds-measures.ts';

const columns = [
  'stage',
  'operation',
  'seconds',
  'requests',
  'requests_per_second',
  'errors',
  '2xx',
  '3xx',
  '4xx',
  '5xx',
  'unanswered',
  'p50_ms',
  'p90_ms',
  'p95_ms',
  'p99_ms',
  'p99.9_ms',
  'max_ms',
  'waiting_p50_ms',
  'waiting_p99_ms',
  'service_p50_ms',
  'service_p99_ms',
  'sent_bytes',
  'received_bytes',
];

interface MeasuredStage {
  readonly stage: string;
  readonly durationMs: number;
  readonly latencies: readonly OperationLatency[];
  readonly operations: readonly OperationCount[];
}

/** Renders the rows of the whole run, with an empty stage, and then the rows of each stage. */
export function fleetCsv({ durationMs, latencies, operations, stages }: FleetResult): string {
  const parts: readonly MeasuredStage[] = [
    { stage: '', durationMs, latencies, operations },
    ...stages.map(({ name, startMs, endMs, ...measured }) => {
      return { stage: name, durationMs: endMs - startMs, ...measured };
    }),
  ];
  return [columns, ...parts.flatMap(rowsOf)]
    .map((row) => `${row.map(cell).join(',')}\r\n`)
    .join('');
}

function rowsOf({ stage, durationMs, latencies, operations }: MeasuredStage): string[][] {
  return operations.map((row) => {
    const { exchanges, errors } = countsOf([row], []);
    const seconds = durationMs / 1000;
    const perSecond = seconds > 0 ? exchanges / seconds : 0;
    const statuses = ['2xx', '3xx', '4xx', '5xx'].map((name) => row.responses[name] ?? 0);
    const figures = latencies.find(({ operation }) => operation === row.operation);
    return [
      stage,
      row.operation,
      seconds.toFixed(3),
      String(exchanges),
      perSecond.toFixed(3),
      ...[errors, ...statuses, row.unanswered].map(String),
      ...millisecondsOf(figures),
      ...partsOf(figures?.waiting),
      ...partsOf(figures?.service),
      ...[row.sentBytes, row.receivedBytes].map((bytes) => String(bytes ?? '')),
    ];
  });
}

/** Returns the percentiles as text; empty texts when no request was answered. */
function millisecondsOf(figures: Figures | undefined): string[] {
  if (figures === undefined) return ['', '', '', '', '', ''];
  const { p50Ms, p90Ms, p95Ms, p99Ms, p999Ms, maxMs } = figures;
  return [p50Ms, p90Ms, p95Ms, p99Ms, p999Ms, maxMs].map((ms) => ms.toFixed(3));
}

/** Returns the percentiles of a part of the latency; empty texts when it is not known. */
function partsOf(figures: Figures | undefined): string[] {
  return [figures?.p50Ms, figures?.p99Ms].map((ms) => ms?.toFixed(3) ?? '');
}

/**
 * Formats a cell. A stage may have any name, and a spreadsheet must not interpret it as a formula.
 */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /^[\w.-]*$/.test(safe) ? safe : `"${safe.replaceAll('"', '""')}"`;
}
